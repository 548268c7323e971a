// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Command;
import dev.kvpool.e2e.cluster.Limits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A webhook that changes the pods of pools in one namespace when they are admitted: images become digests of a mirror, and a sidecar
 * is put before all other containers.
 */
public final class Admission implements AutoCloseable {
    private static final String NAMESPACE = "kvpool-e2e-admission";
    private static final String NAME = "kvpool-e2e";
    private static final String MIRROR = "mirror.example/team/";

    private final Cluster cluster;
    private final Map<String, String> images = new LinkedHashMap<>();

    /**
     * Starts it; it works when this returns.
     *
     * @param namespace whose pods it changes
     * @param rewritten images of the nodes that get another name
     * @throws org.opentest4j.TestAbortedException where the cluster is not this run's own
     */
    public Admission(Cluster cluster, String namespace, List<String> rewritten) {
        this.cluster = cluster;
        for (String image : rewritten) {
            String repository = image.substring(0, image.indexOf(':'));
            images.put(image, cluster.nameByDigest(image, MIRROR + repository));
        }
        cluster.createNamespace(NAMESPACE, "restricted");
        String certificate = serve();
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: admissionregistration.k8s.io/v1
                kind: MutatingWebhookConfiguration
                metadata: {name: %1$s}
                webhooks:
                - name: pods.%1$s.example
                  clientConfig:
                    service: {namespace: %2$s, name: %1$s, port: 8443}
                    caBundle: %3$s
                  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}]
                  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %4$s}}
                  objectSelector: {matchExpressions: [{key: kvpool.dev/pool, operator: Exists}]}
                  admissionReviewVersions: [v1]
                  sideEffects: None
                """.formatted(NAME, NAMESPACE, certificate, namespace));
    }

    /** What it writes instead of an image. */
    public String rewritten(String image) {
        return images.getOrDefault(image, image);
    }

    @Override
    public void close() {
        cluster.kubectl().run("delete", "mutatingwebhookconfiguration", NAME, "--ignore-not-found");
        cluster.deleteNamespace(NAMESPACE);
    }

    /** Returns its certificate, in base64. */
    private String serve() {
        try {
            Path folder = Files.createTempDirectory("kvpool-e2e-tls");
            Path key = folder.resolve("tls.key");
            Path certificate = folder.resolve("tls.crt");
            try {
                selfSigned(key, certificate);
                cluster.kubectl()
                        .run(
                                "create",
                                "secret",
                                "tls",
                                NAME,
                                "--namespace=" + NAMESPACE,
                                "--key=" + key,
                                "--cert=" + certificate);
                runServer(Files.readString(cluster.settings().repository().resolve("e2e/faults/admission.py")));
                return Base64.getEncoder().encodeToString(Files.readAllBytes(certificate));
            } finally {
                Files.deleteIfExists(key);
                Files.deleteIfExists(certificate);
                Files.delete(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a webhook", e);
        }
    }

    private static void selfSigned(Path key, Path certificate) {
        String host = NAME + "." + NAMESPACE + ".svc";
        List<String> words = List.of(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days=2",
                "-subj=/CN=" + host,
                "-addext=subjectAltName=DNS:" + host,
                "-keyout=" + key,
                "-out=" + certificate);
        new Command(words, Map.of(), "", Limits.KUBECTL).run().orThrow();
    }

    /** Its Service has no address before the server listens, so that no pod is refused meanwhile. */
    private void runServer(String program) throws JsonProcessingException {
        ObjectMapper json = new ObjectMapper();
        String command = json.writeValueAsString(List.of("python3", "-c", program, json.writeValueAsString(images)));
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: v1
                kind: Service
                metadata: {name: %1$s}
                spec: {selector: {app: %1$s}, ports: [{port: 8443}]}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: %1$s, labels: {app: %1$s}}
                spec:
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 0
                  securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
                  volumes: [{name: tls, secret: {secretName: %1$s}}]
                  containers:
                  - name: webhook
                    image: kvpool-client:0.1.0
                    command: %2$s
                    volumeMounts: [{name: tls, mountPath: /tls}]
                    readinessProbe: {tcpSocket: {port: 8443}, periodSeconds: 1}
                    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
                """.formatted(NAME, command));
        cluster.kubectl().awaitCondition(NAMESPACE, "pod/" + NAME, "condition=Ready", Limits.CLIENT_POD);
    }
}
