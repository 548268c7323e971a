# SPDX-License-Identifier: Apache-2.0
"""What callers and the environment say, read and checked: nothing is opened here."""
