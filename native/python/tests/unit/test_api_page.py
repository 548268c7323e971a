# SPDX-License-Identifier: Apache-2.0
"""docs/reference/python.md is the public classes of both wheels as their sources say; DOCS_UPDATE=1 writes it."""

import ast
import os
import re
from pathlib import Path

PYTHON = Path(__file__).parents[2]
PAGE = PYTHON / "../../docs/reference/python.md"
KVPOOL, MOONCAKE = PYTHON / "kvpool/src/kvpool", PYTHON / "mooncake/src/mooncake"
MODULES = (
    (
        "mooncake.store",
        MOONCAKE,
        (
            "store",
            "replicas/replicate_config",
            "objects/engram_store",
            "memory/buffer_handle",
            "replicas/replica_descriptors",
            "memory/host_memory",
            "memory/numa",
            "tensors/parallelism",
        ),
    ),
    ("mooncake.buffer_pool", MOONCAKE, ("buffer_pool",)),
    (
        "mooncake.structured_object_store",
        MOONCAKE,
        (
            "structured_object_store",
            "objects/read_specs",
            "objects/bundles",
            "objects/dataproto_refs",
            "objects/structure",
        ),
    ),
    ("mooncake.dataproto_catalog", MOONCAKE, ("objects/catalog", "objects/catalog_transfer")),
    ("mooncake.mooncake_config", MOONCAKE, ("mooncake_config",)),
    ("mooncake.async_store", MOONCAKE, ("async_store",)),
    (
        "mooncake.engine",
        MOONCAKE,
        ("engine", "transfers/transfer_types", "memory/shared_segment", "messages/rpc_interface", "messages/received"),
    ),
    ("mooncake.http_metadata_server", MOONCAKE, ("http_metadata_server",)),
    ("kvpool", KVPOOL, ("client", "keep", "storage_node", "transfer_engine")),
    ("kvpool.aio", KVPOOL, ("aio",)),
    ("kvpool.events", KVPOOL, ("events",)),
)
INTERNAL = {"WithoutEffect", "InnerTransferEngine", "Place", "Bundle", "Bundles", "Leaf", "Node"}
PARTS_OF = {
    "MooncakeDistributedStore": ("methods/range_methods", "methods/tensor_methods", "methods/parallel_tensor_methods")
}  # whose methods are in classes it derives from
FUNCTIONS_OF = (
    "memory/host_memory",
    "memory/numa",
    "messages/rpc_interface",
    "structured_object_store",
    "objects/dataproto_refs",
    "objects/structure",
)  # modules whose functions are public, too
HEAD = """# Python API

Generated from the sources of the two wheels; a test fails when this page is stale. `help(CLASS)` has the whole text,
with every argument. What to set, and how engines use it: [engines](../engines/README.md).

"""


def flat(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def summary(node):
    return flat((ast.get_docstring(node) or "").split("\n\n")[0])


def decorators(node):
    return [ast.unparse(decorator) for decorator in node.decorator_list]


def functions(node):
    for part in node.body:
        is_function = isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and not part.name.startswith("_") and f"{part.name}.setter" not in decorators(part):
            yield part


def call(function):
    arguments = [argument.arg for argument in function.args.posonlyargs + function.args.args]
    without_default = len(arguments) - len(function.args.defaults)
    shown = [name if at < without_default else f"{name}=" for at, name in enumerate(arguments)]
    shown = shown[1:] if arguments[:1] in (["self"], ["cls"]) else shown
    if function.args.vararg:
        shown.append(f"*{function.args.vararg.arg}")
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    named = [argument.arg if default is None else f"{argument.arg}=" for argument, default in pairs]
    if "property" in decorators(function):
        return flat(f"{function.name}: {ast.unparse(function.returns)}")
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return flat(f"{function.name}({', '.join(shown + named)}){result}")


def classes(folder, names):
    for name in names:
        for node in ast.parse((folder / f"{name}.py").read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in INTERNAL:
                yield node


def rows(nodes):
    return "".join(f"| `{call(function)}` | {summary(function)} |\n" for node in nodes for function in functions(node))


def api():
    for module, folder, names in MODULES:
        yield f"## {module}\n\n"
        for node in classes(folder, names):
            yield f"### {module}.{node.name}\n\n```text\n{ast.get_docstring(node)}\n```\n\n"
            if any("dataclass" in decorator for decorator in decorators(node)):
                continue
            methods = rows([node, *classes(folder, PARTS_OF.get(node.name, ()))])
            if methods:
                yield "| call | meaning |\n|---|---|\n" + methods + "\n"
        beside = rows(ast.parse((folder / f"{name}.py").read_text()) for name in names if name in FUNCTIONS_OF)
        if beside:
            yield f"### Functions of {module}\n\n| call | meaning |\n|---|---|\n{beside}\n"


def numbers(source, enum):
    """The members of an enum and their values, from its source."""
    node = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == enum)
    return {part.targets[0].id: ast.literal_eval(part.value) for part in node.body if isinstance(part, ast.Assign)}


def statuses():
    table = (MOONCAKE / "answers/error_code.py").read_text()
    codes = numbers(table, "ErrorCode")
    mooncake = dict(re.findall(r"Status\.(\w+): ErrorCode\.(\w+),", table))
    texts = dict(re.findall(r'ENTRY\(KV_(\w+), "(.*)"\)', (PYTHON / "../src/base/status.cc").read_text()))
    yield "## Statuses\n\n`kvpool` raises or returns the status; `mooncake.store` and `mooncake.engine` return the code.\n\n"
    yield "| status | number | code of mooncake | meaning |\n|---|---|---|---|\n"
    for name, number in numbers((KVPOOL / "status.py").read_text(), "Status").items():
        code = mooncake[name]
        yield f"| `{name}` | {number} | {codes[code]} `{code}` | {flat(texts[name])} |\n"


def test_the_page_is_current():
    page = HEAD + "".join(api()) + "".join(statuses())
    if os.environ.get("DOCS_UPDATE"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, "docs/reference/python.md is stale; DOCS_UPDATE=1 writes it"
