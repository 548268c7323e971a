// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.operator.pool.security.AuthorityRotation.Step;
import dev.kvpool.operator.pool.security.AuthorityWrites.Write;
import dev.kvpool.operator.pool.security.RotationView.Member;
import dev.kvpool.operator.pool.security.RotationView.Said;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A pool whose operators end after any write, whose members follow late and one at a time, and that is asked for rotations now and then. At each
 * moment a new connection of any two of its processes works, each certificate that a process has can be renewed, and no key is lost that masters use.
 */
class RandomRotationTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final RotationTerms TERMS =
            new RotationTerms(Duration.ofDays(90), Duration.ofDays(30), Duration.ofHours(24), Duration.ofHours(25));
    private static final int RUNS = 40;
    private static final int TURNS = 500;

    /** A process: what it trusts, and what has signed its certificate. */
    private static final class Peer {
        final String name;
        final boolean master;
        String mounts = "";
        TrustBundleOf trusts;
        String signedBy;
        Instant followed = START;

        Peer(String name, boolean master) {
            this.name = name;
            this.master = master;
        }

        Member member() {
            return new Member(name, mounts, Optional.of(new Said(trusts.digest(), signedBy)));
        }
    }

    /** Roots by fingerprint, with the digest that processes report. */
    private record TrustBundleOf(Set<String> roots, String digest) {
        static TrustBundleOf of(PoolTrust trust) {
            return new TrustBundleOf(
                    Set.copyOf(trust.bundle().fingerprints()), trust.bundle().digest());
        }
    }

    private static final class Cluster {
        private final Random random;
        private Instant now = START;
        private PoolTrust stored = PoolTrust.none();
        private final Set<String> owners = new HashSet<>();
        private final Set<String> keys = new HashSet<>();
        private final List<Peer> masters = List.of(new Peer("m-0", true), new Peer("m-1", true));
        private final List<Peer> members =
                List.of(new Peer("n-0", false), new Peer("n-1", false), new Peer("a-0", false));
        private Optional<Instant> requested = Optional.empty();
        private int rotations;
        private int deaths;

        Cluster(long seed) {
            random = new Random(seed);
        }

        void operate() {
            List<Write> writes = stored.active() ? rotation() : first();
            for (Write write : writes) {
                if (random.nextInt(4) == 0) {
                    deaths++;
                    return;
                }
                carryOut(write);
            }
        }

        private List<Write> first() {
            return !stored.fingerprint().isEmpty() && keys.contains(stored.fingerprint())
                    ? AuthorityWrites.activate(stored)
                    : AuthorityWrites.first(stored, authority());
        }

        private List<Write> rotation() {
            Step step = AuthorityRotation.decide(new RotationView(
                            stored,
                            now,
                            requested,
                            TERMS,
                            masters.stream().map(Peer::member).toList(),
                            members.stream().map(Peer::member).toList()))
                    .step();
            return AuthorityWrites.of(
                    step,
                    stored,
                    now,
                    () -> keys.contains(stored.next().orElseThrow().fingerprint()),
                    this::authority);
        }

        private CertificateAuthority authority() {
            return CertificateAuthority.create(POOL, now, TERMS.life());
        }

        private void carryOut(Write write) {
            switch (write) {
                case Write.Trust(PoolTrust trust) -> {
                    if (stored.previous().isPresent() && !trust.rotates()) {
                        rotations++;
                    }
                    stored = trust;
                }
                case Write.Owner(CertificateAuthority authority) ->
                    owners.add(CertificateAuthority.fingerprint(authority.certificate()));
                case Write.Key(CertificateAuthority authority) -> {
                    String name = CertificateAuthority.fingerprint(authority.certificate());
                    assertThat(owners).as("what the Secret belongs to").contains(name);
                    keys.add(name);
                }
                case Write.Forget(String name) -> {
                    owners.remove(name);
                    keys.remove(name);
                }
            }
        }

        void start() {
            while (!stored.active()) {
                operate();
            }
            Stream.concat(masters.stream(), members.stream()).forEach(process -> {
                process.trusts = TrustBundleOf.of(stored);
                process.mounts = process.master ? stored.fingerprint() : "";
                process.signedBy = stored.fingerprint();
            });
        }

        /** One process follows, as its files or its turn come. */
        void follow() {
            Peer one = random.nextInt(2) == 0
                    ? masters.get(random.nextInt(masters.size()))
                    : members.get(random.nextInt(members.size()));
            switch (random.nextInt(3)) {
                case 0 -> one.trusts = TrustBundleOf.of(stored);
                case 1 -> {
                    if (one.master) { // made again with the template of now
                        one.mounts = stored.fingerprint();
                        one.signedBy = one.mounts;
                        one.trusts = TrustBundleOf.of(stored);
                    } else {
                        Peer by = masters.get(random.nextInt(masters.size()));
                        if (one.trusts.roots().contains(by.signedBy)) {
                            one.signedBy = by.mounts;
                        }
                    }
                }
                default -> {
                    now = now.plus(Duration.ofHours(random.nextInt(12)));
                    Stream.concat(masters.stream(), members.stream()).forEach(this::renew);
                }
            }
            if (random.nextInt(60) == 0) {
                requested = Optional.of(now);
            }
        }

        /** Files come within minutes, and certificates are renewed at half of their life. */
        private void renew(Peer process) {
            if (now.isBefore(process.followed.plus(Duration.ofHours(12)))) {
                return;
            }
            process.followed = now;
            process.trusts = TrustBundleOf.of(stored);
            if (!process.master) {
                process.signedBy = masters.get(random.nextInt(masters.size())).mounts;
            }
        }

        void check(String as) {
            assertThat(stored.isIntact()).as(as).isTrue();
            assertThat(keys).as(as + ", the key that masters are to have").contains(stored.fingerprint());
            for (Peer master : masters) {
                assertThat(keys).as(as + ", the key of " + master.name).contains(master.mounts);
            }
            List<Peer> all = Stream.concat(masters.stream(), members.stream()).toList();
            for (Peer one : all) {
                for (Peer other : all) {
                    assertThat(one.trusts.roots())
                            .as("%s, %s meets %s, %s", as, one.name, other.name, stored)
                            .contains(other.signedBy);
                }
            }
            assertThat(keys.size()).as(as + ", keys that are left over").isLessThanOrEqualTo(2);
            assertThat(owners.size()).as(as + ", owners that are left over").isLessThanOrEqualTo(2);
        }
    }

    @Test
    void whereverOperatorsEndThePoolServesAndEachRotationEnds() {
        long seed = new Random().nextLong();
        int rotations = 0;
        int deaths = 0;
        for (int run = 0; run < RUNS; run++) {
            String as = "seed " + seed + ", run " + run;
            Cluster cluster = new Cluster(seed + run);
            cluster.start();
            for (int turn = 0; turn < TURNS; turn++) {
                cluster.operate();
                cluster.check(as + ", turn " + turn + ", operator");
                cluster.follow();
                cluster.check(as + ", turn " + turn + ", process");
            }
            rotations += cluster.rotations;
            deaths += cluster.deaths;
            assertThat(cluster.rotations).as(as).isPositive();
        }
        System.out.printf("seed %d: %d rotations, %d operators ended between writes%n", seed, rotations, deaths);
    }
}
