# SPDX-License-Identifier: Apache-2.0
"""kvpool as a plugin of inference engines.

Each engine's own loader imports the module that its configuration names; the modules import the engine's base classes, so
only the engine's own can be imported in its process. What they share is here:

    settings    what a configuration may say, and what is wrong with it
    patience    how long a pool is waited for, and when it is left alone
    pool        lookups, loads and stores that never fail and never last
"""

__version__ = "0.1.0"
