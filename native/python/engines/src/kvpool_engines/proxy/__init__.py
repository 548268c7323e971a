# SPDX-License-Identifier: Apache-2.0
"""kvpool-proxy: completions from engines that prefill and engines that decode. Needs aiohttp.

Rooms, of which each may import those above it:

    refusal      what a client is told when it gets no completion
    schemes      what a request says to either engine: pure
    instances    which engines there are, which of them are well, how much each has to do; where they come from
    exchange     one request to two engines: order, failures, retries, answers that take several rounds
    service      the HTTP endpoints and the command
"""
