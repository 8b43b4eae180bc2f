#!/bin/bash
# Megatron-LM: pretrain a 70B model on 56 machines of eight cards.
#SBATCH --nodes=56
#SBATCH --gpus-per-node=8
MODEL="--num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64
  --group-query-attention --num-query-groups 8 --seq-length 8192 --max-position-embeddings 8192
  --swiglu --untie-embeddings-and-output-weights --vocab-size 128256"
LAYOUT="--tensor-model-parallel-size 4 --pipeline-model-parallel-size 8 --sequence-parallel --use-distributed-optimizer"
BATCH="--micro-batch-size 1 --global-batch-size 518 --bf16"
srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=8 pretrain_gpt.py $MODEL $LAYOUT $BATCH
