# SPDX-License-Identifier: Apache-2.0
"""A build backend that builds nothing: `pip download` wants metadata of each source distribution, and the engines' own
backends would install a torch of gigabytes to find it. Every source distribution says it in PKG-INFO.
"""

import email
import shutil
from pathlib import Path


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: object = None) -> str:
    said = email.message_from_string(Path("PKG-INFO").read_text(encoding="utf-8"))
    folder = Path(metadata_directory, f"{said['Name'].replace('-', '_')}-{said['Version']}.dist-info")
    folder.mkdir()
    shutil.copy("PKG-INFO", folder / "METADATA")
    return folder.name
