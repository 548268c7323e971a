# SPDX-License-Identifier: Apache-2.0
"""The methods of a store, in classes that it derives from."""
