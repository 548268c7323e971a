// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.cert.AuthorityDirectory;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.nativelib.Uptime;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/** CA and rules, as their owner may replace them while a master runs. What cannot be used leaves things as they are. */
public final class EnrolmentFiles implements AutoCloseable {
    private static final long BYTES_MAX = 4 << 20;

    private final EnrolmentSettings.Place place;
    private final UUID poolId;
    private final InstantSource clock;
    private volatile CertificateAuthority authority;
    private volatile EnrolmentRules rules;
    private final KeySource keys;
    private Optional<AuthorityDirectory.Text> seenAuthority = Optional.empty();
    private Optional<String> seenRules = Optional.empty();

    /**
     * Reads both.
     *
     * @throws IOException with the file, the cause and how to fix it
     */
    public EnrolmentFiles(EnrolmentSettings.Place place, UUID poolId, InstantSource clock) throws IOException {
        this.place = place;
        this.poolId = poolId;
        this.clock = clock;
        keys = keys(place);
        look();
    }

    /** What answers requests, by the files of the moment; empty where there is no CA. */
    public Optional<Enrolment> enrolment() {
        return place.authority()
                .map(directory ->
                        new Enrolment(poolId, () -> authority, tokens(), () -> rules, place.life(), clock, Uptime::ms));
    }

    /**
     * Names of tokens where there is no CA.
     *
     * @param authorities what this master trusts, as it is now: fingerprints, or FINGERPRINT/NAMESPACE/ACCOUNT with the account of masters
     */
    public EnrolledNames names(Supplier<Set<String>> authorities) {
        return new EnrolledNames(poolId, authorities, tokens(), () -> rules);
    }

    private TokenChecks tokens() {
        TokenVerifier verifier = new TokenVerifier("kvpool.dev/" + poolId, keys, clock, Uptime::ms);
        return new TokenChecks(verifier, clock, Uptime::ms);
    }

    /** The CA of the moment, where there is one. */
    public CertificateAuthority authority() {
        return authority;
    }

    private static KeySource keys(EnrolmentSettings.Place place) {
        return place.tokenKeys()
                .<KeySource>map(file -> () -> text(file))
                .orElseGet(() -> new KubernetesKeys(new ConfigBuilder().build()));
    }

    /**
     * Reads them again.
     *
     * @throws IOException as the constructor; what was read before stays
     */
    public void look() throws IOException {
        lookAtRules(); // first: who was taken out of them has no part in the pool any more, whatever the CA is
        if (place.authority().isPresent()) {
            lookAtAuthority(place.authority().get());
        }
    }

    private void lookAtRules() throws IOException {
        String now = text(place.rules());
        if (seenRules.filter(now::equals).isPresent()) {
            return;
        }
        try {
            rules = EnrolmentRules.parse(now);
        } catch (IllegalArgumentException e) {
            throw new IOException(place.rules() + ": " + e.getMessage(), e);
        }
        seenRules = Optional.of(now); // what was refused is looked at again, and told again
    }

    private void lookAtAuthority(Path directory) throws IOException {
        AuthorityDirectory.Text now = AuthorityDirectory.Text.read(directory);
        if (seenAuthority.filter(now::equals).isPresent()) {
            return;
        }
        CertificateAuthority found = now.parse(clock.instant());
        if (!found.poolId().equals(poolId)) {
            throw new IOException(directory + " has the CA of pool " + found.poolId() + ", and this is pool " + poolId
                    + "; make one with `kvpool cert init --pool-id " + poolId + "`");
        }
        authority = found;
        seenAuthority = Optional.of(now);
    }

    @Override
    public void close() {
        keys.close();
    }

    private static String text(Path file) throws IOException {
        if (Files.size(file) > BYTES_MAX) {
            throw new IOException(file + " is larger than " + BYTES_MAX + " bytes");
        }
        return Files.readString(file, StandardCharsets.UTF_8);
    }
}
