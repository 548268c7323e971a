# SPDX-License-Identifier: Apache-2.0
"""What is said to those who ask a client or a master for an SSD."""

SSD_REMEDY = "SSD tiers belong to storage nodes: `kvpool local --ssd-dir`, or storage[].ssd of a KvCachePool"
