# SPDX-License-Identifier: Apache-2.0
"""A mutating admission webhook, as a registry mirror and a service mesh have them: rewrites images, and puts a sidecar before all
other containers of a new pod. Used by the scenarios; takes a JSON map from images to what is written instead.

Serves https on port 8443 with /tls/tls.crt and /tls/tls.key.
"""

import base64
import http.server
import json
import ssl
import sys

PORT = 8443
SIDECAR = {
    "name": "proxy",
    "image": "kvpool-client:0.1.0",
    "command": ["python3", "-c", "import signal; signal.sigwait([signal.SIGTERM])"],
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}


def patch_of(request: dict, images: dict[str, str]) -> list[dict]:
    """JSON patch for the pod that an AdmissionRequest is about."""
    patch = []
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(request["object"]["spec"].get(kind, [])):
            if container["image"] in images and container["name"] != SIDECAR["name"]:
                value = images[container["image"]]
                patch.append({"op": "replace", "path": f"/spec/{kind}/{index}/image", "value": value})
    if request["operation"] == "CREATE":
        patch.append({"op": "add", "path": "/spec/containers/0", "value": SIDECAR})
    return patch


def serve(images: dict[str, str]) -> None:
    class Webhook(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            patch = json.dumps(patch_of(review["request"], images)).encode()
            review["response"] = {
                "uid": review["request"]["uid"],
                "allowed": True,
                "patchType": "JSONPatch",
                "patch": base64.b64encode(patch).decode(),
            }
            del review["request"]
            body = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("", PORT), Webhook)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("/tls/tls.crt", "/tls/tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: admission.py JSON_OF_IMAGES")
    serve(json.loads(sys.argv[1]))
