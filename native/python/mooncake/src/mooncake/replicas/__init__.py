# SPDX-License-Identifier: Apache-2.0
"""What is said of the copies of a value, before it is put and after."""
