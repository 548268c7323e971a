// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.rehearsal;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.prepare.ThrowawayKey;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * Answers, by TLS as a real one does, as the API server of a cluster with one pool. It stores nothing: what it is sent comes back. Made of
 * what every Java runtime has, so that the archive's needs no server.
 */
final class PretendedApi {
    private static final String HOST = "127.0.0.1";
    private static final Pattern REQUEST = Pattern.compile("(\\w+) (/[^ ?]*)(\\S*) HTTP/1\\.1");
    private static final Pattern LENGTH = Pattern.compile("(?i)content-length: *(\\d+)");
    private static final Pattern TOKEN = Pattern.compile("/api/v1/namespaces/default/serviceaccounts/[^/]+/token");
    /** What a list asks for; the group is KEY=VALUE, with commas between several. */
    private static final Pattern SELECTOR = Pattern.compile("[?&]labelSelector=([^&]+)");

    /** Of a page of a pod; the group is the page. */
    private static final Pattern POD_PAGE = Pattern.compile("/api/v1/namespaces/default/pods/[^/]+/proxy(/.*)");
    /** Of one object or of all of a kind; the groups are the kind and the name. */
    private static final Pattern OBJECT =
            Pattern.compile("/(?:api|apis/[^/]+)/v\\w+(?:/namespaces/[^/]+(?=/))?/([^/]+)(?:/([^/]+))?");

    private static final int BACKLOG = 8;

    /** Before it are the head of the sequence, the version, the algorithm, and the head of the key. */
    private static final int RSA_KEY_AT = 4 + 3 + 15 + 4;

    private final ObjectMapper json = new ObjectMapper();
    private final JsonNode cluster;
    private final SSLServerSocket listener;
    private final String kubeconfig;

    private PretendedApi(JsonNode cluster, SSLServerSocket listener, String kubeconfig) {
        this.cluster = cluster;
        this.listener = listener;
        this.kubeconfig = kubeconfig;
    }

    /**
     * Starts it, for as long as the process lives.
     *
     * @param algorithm of the keys of server and client: EC or RSA
     */
    static PretendedApi start(String algorithm) throws IOException {
        try (InputStream answers = PretendedApi.class.getResourceAsStream("rehearsal.json")) {
            ThrowawayKey made = ThrowawayKey.make(HOST, algorithm);
            char[] password = made.password().toCharArray();
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(new ByteArrayInputStream(made.store()), password);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, password);
            String alias = store.aliases().nextElement();
            Certificate[] chain = store.getCertificateChain(alias);
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("authority", chain[chain.length - 1]);
            TrustManagerFactory clients = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            clients.init(trusted);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(keys.getKeyManagers(), clients.getTrustManagers(), null);
            SSLServerSocket listener = (SSLServerSocket)
                    tls.getServerSocketFactory().createServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
            listener.setNeedClientAuth(true);
            PretendedApi api = new PretendedApi(
                    new ObjectMapper().readTree(answers),
                    listener,
                    kubeconfig(listener.getLocalPort(), chain, store.getKey(alias, password)));
            Thread.ofPlatform().daemon().name("pretended-api").start(api::listen);
            return api;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** As kubectl writes it, with an authority and a client's certificate, as most clusters give them to their first user. */
    String kubeconfig() {
        return kubeconfig;
    }

    private static String kubeconfig(int port, Certificate[] chain, Key key) throws CertificateEncodingException {
        return """
                apiVersion: v1
                clusters:
                - cluster:
                    certificate-authority-data: %s
                    server: https://%s:%d
                  name: c
                contexts:
                - context:
                    cluster: c
                    namespace: default
                    user: u
                  name: c
                current-context: c
                kind: Config
                preferences: {}
                users:
                - name: u
                  user:
                    client-certificate-data: %s
                    client-key-data: %s
                """.formatted(
                        data("CERTIFICATE", chain[chain.length - 1].getEncoded()),
                        HOST,
                        port,
                        data("CERTIFICATE", chain[0].getEncoded()),
                        data(key.getAlgorithm() + " PRIVATE KEY", ofKubeconfig(key)));
    }

    /** Most clusters give an RSA key in the form of PKCS #1, which Java's of PKCS #8 ends with. */
    private static byte[] ofKubeconfig(Key key) {
        byte[] encoded = key.getEncoded();
        return key.getAlgorithm().equals("RSA") ? Arrays.copyOfRange(encoded, RSA_KEY_AT, encoded.length) : encoded;
    }

    private static String data(String what, byte[] encoded) {
        String pem = "-----BEGIN %s-----%n%s%n-----END %s-----%n"
                .formatted(what, Base64.getMimeEncoder().encodeToString(encoded), what);
        return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    }

    private void listen() {
        try {
            while (true) {
                Socket client = listener.accept();
                Thread.ofPlatform().daemon().start(() -> serve(client));
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(client.getInputStream());
            OutputStream out = client.getOutputStream();
            for (String head = head(in); !head.isEmpty(); head = head(in)) {
                Matcher length = LENGTH.matcher(head);
                byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
                Matcher request = REQUEST.matcher(head);
                JsonNode answer = request.lookingAt()
                        ? answer(request.group(1), request.group(2), request.group(3), body)
                        : json.missingNode();
                byte[] text = answer.isMissingNode() ? new byte[0] : json.writeValueAsBytes(answer);
                out.write("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                        .formatted(answer.isMissingNode() ? "404 Not Found" : "200 OK", text.length)
                        .getBytes(StandardCharsets.US_ASCII));
                out.write(text);
                out.flush();
            }
        } catch (IOException e) {
            // The client has ended; the commands' own results say whether that was right.
        }
    }

    /** Of the next request; empty at the end. */
    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0; next = in.read()) {
            head.write(next);
            String text = head.toString(StandardCharsets.ISO_8859_1);
            if (text.endsWith("\r\n\r\n")) {
                return text;
            }
        }
        return "";
    }

    private static boolean isAskedFor(JsonNode object, String query) {
        Matcher selector = SELECTOR.matcher(URLDecoder.decode(query, StandardCharsets.UTF_8));
        return !selector.find()
                || Stream.of(selector.group(1).split(",", -1)).allMatch(label -> {
                    int equals = label.indexOf('=');
                    return object.at("/metadata/labels")
                            .path(label.substring(0, equals))
                            .asText()
                            .equals(label.substring(equals + 1));
                });
    }

    private JsonNode answer(String method, String path, String query, byte[] body) throws IOException {
        if (TOKEN.matcher(path).matches()) {
            return cluster.path("token");
        }
        Matcher page = POD_PAGE.matcher(path);
        if (page.matches()) {
            return cluster.path("pages").path(page.group(1));
        }
        Matcher object = OBJECT.matcher(path);
        if (!object.matches()) {
            return json.missingNode();
        }
        JsonNode all = cluster.path("objects").path(object.group(1));
        if (object.group(2) == null) {
            return json.createObjectNode()
                    .put("apiVersion", "v1")
                    .put("kind", "List")
                    .set(
                            "items",
                            json.valueToTree(all.valueStream()
                                    .filter(one -> isAskedFor(one, query))
                                    .toList()));
        }
        for (JsonNode one : all) {
            if (one.at("/metadata/name").asText().equals(object.group(2))) {
                // What is applied is whole; a merge patch is not.
                return method.equals("PATCH") && json.readTree(body).has("kind") ? json.readTree(body) : one;
            }
        }
        return json.missingNode();
    }
}
