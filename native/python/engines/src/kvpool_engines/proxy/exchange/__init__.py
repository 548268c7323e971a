# SPDX-License-Identifier: Apache-2.0
"""One request of a client as requests to two engines: order, failures, retries."""
