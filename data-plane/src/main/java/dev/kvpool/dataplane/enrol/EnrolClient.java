// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.dataplane.cert.KnownRoots;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerNames;
import dev.kvpool.identity.text.Quoted;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gets a certificate for this process from any of the masters, and writes it where {@code --tls-dir} looks. */
final class EnrolClient {
    private static final Logger LOG = LoggerFactory.getLogger(EnrolClient.class);

    /** In place of a fingerprint, where none of the roots has signed the certificate. */
    private static final String NONE = "0".repeat(16);

    private static final Pattern TOKEN_CHARS = Pattern.compile("[A-Za-z0-9_.-]+");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration CONNECT = Duration.ofSeconds(3);
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final String NAMES_FILE = "names";
    private static final int FILE_BYTES_MAX = 1 << 20;

    private final List<HostPort> masters;
    private final Path token;
    private final Path roots;
    private final Path directory;
    private final KnownRoots known = new KnownRoots();

    /**
     * What was written.
     *
     * @param life how long it is valid, by the clock of the master
     */
    record Written(String name, Instant notAfter, Duration life) {}

    /**
     * Asks for nothing yet.
     *
     * @param masters admin addresses
     * @param token file of a ServiceAccount's token, which the kubelet replaces now and then
     * @param roots file of what masters' certificates must lead to
     * @param directory to write to
     */
    EnrolClient(List<HostPort> masters, Path token, Path roots, Path directory) {
        this.masters = List.copyOf(masters);
        this.token = token;
        this.roots = roots;
        this.directory = directory;
    }

    /**
     * Asks the masters in turn, until one has answered.
     *
     * @throws IOException when none gave a certificate, with what each of them said
     */
    Written enrol() throws IOException {
        String shown = token();
        String file = file();
        AdminCaller caller = AdminCaller.trusting(trusted(file), pools(shown));
        KeyPair pair = CertificateAuthority.newKey();
        String path = EnrolRoute.PATH + "?key=" + url(pair.getPublic().getEncoded()) + "&proof=" + proof(pair, shown);
        StringBuilder problems = new StringBuilder();
        for (HostPort master : masters) {
            try {
                AdminAnswer answer = caller.post(master, path, shown, CONNECT, ANSWER);
                if (answer.isOk()) {
                    JsonNode granted = JSON.readTree(answer.body());
                    Written written = write(pair, granted, answer.date().orElseGet(Instant::now));
                    known.note(file, granted.path("roots").asText());
                    return written;
                }
                problems.append(problems.isEmpty() ? "" : "; ")
                        .append(master)
                        .append(" answered ")
                        .append(answer.status())
                        .append(": ")
                        .append(Quoted.cut(answer.body().strip()));
            } catch (IOException e) {
                problems.append(problems.isEmpty() ? "" : "; ")
                        .append(master)
                        .append(": ")
                        .append(e.getMessage());
            }
        }
        throw new IOException(problems.toString());
    }

    /**
     * Asks masters with a token in place of a certificate.
     *
     * @throws IOException when a file cannot be read, or has nothing that can be used
     */
    static AdminCaller caller(Path token, Path roots) throws IOException {
        EnrolClient files = new EnrolClient(List.of(), token, roots, token);
        String shown = files.token();
        return AdminCaller.trusting(files.parsed(files.file()), files.foreign(), files.pools(shown))
                .showing(shown);
    }

    /** Where others make the certificates of masters, a file beside the roots says what their names stand for. */
    private ForeignNames foreign() throws IOException {
        Path names = roots.resolveSibling(NAMES_FILE);
        try {
            return ForeignNames.parse(text(names));
        } catch (NoSuchFileException e) {
            return ForeignNames.NONE;
        } catch (IllegalArgumentException e) {
            throw new IOException(names + ": " + e.getMessage(), e);
        }
    }

    private String token() throws IOException {
        String shown = text(token).strip();
        if (!TOKEN_CHARS.matcher(shown).matches()) { // a header would be refused with the token in the message
            throw new IOException(token + " has no token: it has characters that no token has, or is empty");
        }
        return shown;
    }

    /** Those whose masters may see the token: with a CA of several pools, roots say little. */
    private Set<UUID> pools(String shown) throws IOException {
        try {
            return TokenAudience.pools(shown);
        } catch (IOException e) {
            throw new IOException(token + " " + e.getMessage(), e);
        }
    }

    private String file() throws IOException {
        return text(roots);
    }

    /** Others write these files. What is no ASCII in them is no part of what they say. */
    private static String text(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(FILE_BYTES_MAX + 1);
            if (bytes.length > FILE_BYTES_MAX) {
                throw new IOException(file + " has more than " + FILE_BYTES_MAX + " bytes; is it what it should be?");
            }
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    private List<X509Certificate> trusted(String file) throws IOException {
        return parsed(known.beside(file)).stream().distinct().toList();
    }

    private List<X509Certificate> parsed(String pem) throws IOException {
        try {
            return Pem.certificates(pem);
        } catch (IllegalArgumentException e) {
            throw new IOException(roots + ": " + e.getMessage(), e);
        }
    }

    /**
     * What the file of roots says, where the directory does not have it: other roots, or a certificate that another root than the first one has
     * signed. Empty where it has, and where one of them cannot be read, of which a renewal tells.
     */
    Optional<String> outdatedBy() {
        try {
            TrustBundle wanted = new TrustBundle(parsed(file()));
            Held held = held();
            boolean isCurrent = held.roots().digest().equals(wanted.digest())
                    && wanted.signerOf(held.leaf())
                            .equals(Optional.of(wanted.roots().getFirst()));
            return isCurrent ? Optional.empty() : Optional.of(String.join(",", wanted.fingerprints()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** What the directory has. */
    private record Held(TrustBundle roots, X509Certificate leaf) {}

    private Held held() throws IOException {
        try {
            return new Held(
                    TrustBundle.parse(Files.readString(
                            directory.resolve(IssuedDirectory.ROOTS_FILE), StandardCharsets.ISO_8859_1)),
                    Pem.certificates(Files.readString(
                                    directory.resolve(IssuedDirectory.CHAIN_FILE), StandardCharsets.ISO_8859_1))
                            .getFirst());
        } catch (IllegalArgumentException e) {
            throw new IOException(directory + ": " + e.getMessage(), e);
        }
    }

    /**
     * Tells all masters which roots the directory has, what has signed its certificate, and until when that is valid. Those that do not listen hear it the next time.
     *
     * @return how many roots there are
     */
    int tell() {
        try {
            Held held = held();
            String authority = held.roots()
                    .signerOf(held.leaf())
                    .map(CertificateAuthority::fingerprint)
                    .orElse(NONE);
            String shown = token();
            AdminCaller caller = AdminCaller.trusting(trusted(file()), pools(shown));
            String path = TrustRoute.PATH + "?roots=" + held.roots().digest() + "&authority=" + authority + "&notAfter="
                    + held.leaf().getNotAfter().toInstant().getEpochSecond();
            for (HostPort master : masters) {
                tell(caller, master, path, shown);
            }
            return held.roots().roots().size();
        } catch (IOException e) {
            LOG.debug("cannot tell masters which roots are trusted", e);
            return 0;
        }
    }

    private static void tell(AdminCaller caller, HostPort master, String path, String shown) {
        try {
            AdminAnswer answer = caller.post(master, path, shown, CONNECT, ANSWER);
            if (!answer.isOk()) {
                LOG.debug("{} answered {} to which roots are trusted: {}", master, answer.status(), answer.body());
            }
        } catch (IOException e) {
            LOG.debug("{} cannot be told which roots are trusted", master, e);
        }
    }

    private Written write(KeyPair pair, JsonNode answer, Instant masterNow) throws IOException {
        String chain = answer.path("certificate").asText();
        try {
            X509Certificate leaf = Pem.certificates(chain).getFirst();
            Pem.certificates(answer.path("roots").asText());
            if (!leaf.getPublicKey().equals(pair.getPublic())) {
                throw new IOException("the certificate is for another key than the one that was sent");
            }
            IssuedDirectory.write(directory, answer.path("roots").asText(), pair.getPrivate(), chain);
            Instant end = leaf.getNotAfter().toInstant();
            return new Written(PeerNames.of(leaf).uri(), end, Duration.between(masterNow, end));
        } catch (IllegalArgumentException e) {
            throw new IOException("the answer has no certificate: " + e.getMessage(), e);
        }
    }

    /** What shows that the process that asks has the private key. */
    static String proof(KeyPair pair, String token) {
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(pair.getPrivate());
            signature.update(Enrolment.proven(token));
            return url(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a key of this process does not sign", e);
        }
    }

    private static String url(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
