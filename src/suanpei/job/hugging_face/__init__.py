"""Read the configuration files of Hugging Face models, whatever their family."""

from suanpei.job.hugging_face.reader import identify_family, parse_config, read_hugging_face

__all__ = ["identify_family", "parse_config", "read_hugging_face"]
