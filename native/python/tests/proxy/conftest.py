# SPDX-License-Identifier: Apache-2.0
"""These tests run kvpool-proxy between engines of ours that speak HTTP as vLLM, vllm-ascend and SGLang do."""
