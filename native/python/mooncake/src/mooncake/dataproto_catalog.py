# SPDX-License-Identifier: Apache-2.0
"""mooncake.dataproto_catalog: keys whose fields are rows of batches that mooncake.structured_object_store stored."""

from mooncake.objects.catalog import DataProtoCatalog
from mooncake.objects.catalog_transfer import DataProtoCatalogTransfer

__all__ = ["DataProtoCatalog", "DataProtoCatalogTransfer"]
