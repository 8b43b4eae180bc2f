"""Fields of configuration files that change neither sizes nor FLOPs."""

from __future__ import annotations

import re

_PATTERNS = (
    # about the file and the framework
    r"_(?!remove_final_layer_norm|sliding_window_pattern).*",
    r"architectures|model_type|auto_map|transformers_version|torch_dtype|dtype|torchscript|use_bfloat16|fp16|bf16|fp32",
    r"tf_legacy_loss|unsloth_.*|checkpoint_.*|name|license|keys_to_ignore_at_inference|custom_pipelines|tokenizer_class",
    r"task_specific_params|finetuning_task|problem_type|id2label|label2id|num_labels|classifier_dropout|summary_.*",
    r"use_cache|cache_.*|use_return_dict|return_dict.*|output_(hidden_states|attentions|scores|past|router_logits)",
    r"pruned_heads|chunk_size_feed_forward|is_decoder|tie_encoder_decoder|cross_attention_hidden_size|prefix",
    r"gradient_checkpointing|pretraining_tp|tensor_parallel.*|init_device|disable_exllama|onnx_safe|use_fused_.*|ep_size",
    r"use_(flash|memory_efficient|sdpa|kernel|mambapy|xformers).*|flash_attn.*|attn_implementation|attn_impl|fused_.*",
    r"attention_(softmax_in_fp32|probs_.*)|softmax_.*|scale_attn?_.*|scale_attention_.*|apply_query_key_layer_scaling",
    r"reorder_and_upcast_attn|slow_but_exact|deterministic_flash_attn|masked_softmax_fusion|bias_dropout_fusion",
    r"offset_alibi|alibi_bias_max|quantization_bit|pre_seq_len|prefix_projection|attn_uses_sequence_id|prefix_lm",
    r"(attn|ffn)_config\.is_encoder_decoder",
    r"use_cache_.*|skip_bias_add.*|init_config|n_special|predict_special_tokens|use_return_.*|max_batch_size|verbose",
    # tokens and generation
    r".*(token|pad|eos|bos|image|video|audio|eoi|boi)_(token_)?(id|ids|index|str|token)",
    r"(max|min)_length|max_new_tokens|do_sample|early_stopping|num_beams|num_beam_groups|diversity_penalty|temperature",
    r"top_[kp]|typical_p|repetition_penalty|length_penalty|no_repeat_ngram_size|encoder_no_repeat_ngram_size",
    r"bad_words_ids|num_return_sequences|remove_invalid_values|exponential_decay_length_penalty|suppress_tokens",
    r"begin_suppress_tokens|forced_.*|generation_config|force_bos_token_to_be_generated|user_token_id|assistant_token_id",
    # training
    r".*dropout.*|.*_pdrop|layerdrop|.*initializer.*|init_std|.*init_method.*|.*_eps|.*epsilon.*|.*_jitter.*|moe_loss_.*",
    r"(router_|moe_)?(aux|z)_loss.*|router_aux_.*|router_z_.*|seq_aux|aux_loss_alpha|mup_.*|z_loss.*|label_smoothing",
    # positions that are computed, not learned
    r"rope_.*|rotary_(dim|pct|percent|emb_base|emb_fraction|emb_scale_base|emb_interleaved|base|seq_len)|rotary|rope",
    r"partial_rotary_factors?|original_max_position_embeddings|use_dynamic_ntk|use_logn_attn|original_rope|mrope_.*",
    r"use_mrope|no_rope_.*|nope_.*|position_embedding_type|attn_temperature_tuning|attn_scale|floor_scale|theta",
    # scalars applied to activations, and how experts are chosen
    r"hidden_act.*|activation.*|act_fn|ffn_act_fn|.*logits?_soft_?cap.*|.*logits?_scal.*|query_pre_attn_scalar|clip_qkv",
    r"embedding_multiplier.*|output_multiplier.*|residual_multiplier|attention_multiplier|scale_emb|scale_depth|dim_model_base",
    r"attn_output_multiplier|max_attn_val|softmax_scale|scale_embedding|norm_topk_prob|scoring_func|topk_.*|n_group",
    r"routed_scaling_factor|router_scal.*|score_function|moe_router_.*|moe_normalize_expert_weights|use_grouped_topk",
    r"swiglu_(alpha|limit)|normalize_router.*|moe_(drop_tokens|random_routing_.*|token_dispatcher.*|group_.*)|router_bias_.*",
    r"sliding_window_size|use_rotary_pos_emb|xdrope_section|position_embedding_xdrope|rotary_emb.*",
    r"apply_residual_connection_post_layernorm|fp32_residual_connection|residual_.*|use_scaled_init_method|norm_type",
    r"capacity_factor|expert_capacity|layernorm_.*_(alpha|beta)|.*_(alpha|beta)_factor|embedding_fraction|moe_capacity_factor|z_loss_coefficient",
)

HARMLESS: tuple[re.Pattern[str], ...] = tuple(re.compile(pattern) for pattern in _PATTERNS)
"""Patterns that a whole field name must match."""
