"""Catalogues of clouds: list prices of instances, from SkyPilot's files and from gpuhunt."""
