#!/bin/bash
# Megatron, experts; the launch part is the usual one.
export CUDA_DEVICE_MAX_CONNECTIONS=1
export NCCL_P2P_DISABLE=1
GPUS_PER_NODE=8
NNODES=${NNODES:-4}
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
    --master_addr $MASTER_ADDR
)

MODEL_ARGS=(
    --seq-length 4096
    --max-position-embeddings 32768
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --normalization RMSNorm
    --position-embedding-type rope
    --swiglu
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --vocab-size 32000   # padded below
    --num-experts 8
    --moe-router-topk 2
)

TRAINING_ARGS="
    --micro-batch-size 1 \
    --global-batch-size 256 \
    --train-iters 500000 \
    --bf16 \
    --recompute-granularity full --recompute-method uniform --recompute-num-layers 1
"

PARALLEL_ARGS=(
    --tensor-model-parallel-size 1
    --pipeline-model-parallel-size 4
    --num-layers-per-virtual-pipeline-stage 2
    --expert-model-parallel-size 8
    --use-distributed-optimizer
    --sequence-parallel
)

torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${MODEL_ARGS[@]} $TRAINING_ARGS ${PARALLEL_ARGS[@]}
