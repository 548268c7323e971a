# SPDX-License-Identifier: Apache-2.0
"""What a call answers, and what the log says of it."""
