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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A pool whose operators end after any write, or go on long after another one has followed, whose members follow late and one at a time, and that is asked for rotations now and then. At each
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

    /** What an operator that was stopped still means to write, and the version of the ConfigMap that it knows. */
    private record Late(List<Write> rest, int knows) {}

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
        private int latecomers;

        /** Counts writes of the ConfigMap, as its resource version does. */
        private int version;

        private final List<Late> late = new ArrayList<>();

        Cluster(long seed) {
            random = new Random(seed);
        }

        void operate() {
            boolean rotated = stored.rotates();
            List<Write> writes = stored.active() ? rotation() : first();
            for (int done = 0; done < writes.size(); done++) {
                switch (random.nextInt(8)) {
                    case 0 -> {
                        deaths++;
                        return;
                    }
                    case 1 -> {
                        late.add(new Late(writes.subList(done, writes.size()), version));
                        return;
                    }
                    default -> carryOut(writes.get(done));
                }
            }
            if (rotated && !stored.rotates()) {
                assertThat(owners).as("what is left over").containsExactly(stored.fingerprint());
            }
        }

        /** One of the operators that were stopped goes on, up to the first write that is refused. */
        void goOn() {
            if (late.isEmpty() || random.nextInt(10) != 0) {
                return;
            }
            latecomers++;
            Late one = late.remove(random.nextInt(late.size()));
            int knows = one.knows;
            for (Write write : one.rest) {
                if (write instanceof Write.Trust && version != knows++) {
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
                    owners,
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
                    version++;
                }
                case Write.Owner(CertificateAuthority authority) ->
                    owners.add(CertificateAuthority.fingerprint(authority.certificate()));
                case Write.Key(CertificateAuthority authority) -> {
                    String name = CertificateAuthority.fingerprint(authority.certificate());
                    if (owners.contains(name)) { // else Kubernetes removes it: what it belongs to is not there any more
                        keys.add(name);
                    }
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
            assertThat(owners).as(as + ", what keys belong to").containsAll(keys);
        }
    }

    @Test
    void whereverOperatorsEndThePoolServesAndEachRotationEnds() {
        long seed = new Random().nextLong();
        int rotations = 0;
        int deaths = 0;
        int latecomers = 0;
        for (int run = 0; run < RUNS; run++) {
            String as = "seed " + seed + ", run " + run;
            Cluster cluster = new Cluster(seed + run);
            cluster.start();
            for (int turn = 0; turn < TURNS; turn++) {
                cluster.operate();
                cluster.check(as + ", turn " + turn + ", operator");
                cluster.goOn();
                cluster.check(as + ", turn " + turn + ", operator that is late");
                cluster.follow();
                cluster.check(as + ", turn " + turn + ", process");
            }
            rotations += cluster.rotations;
            deaths += cluster.deaths;
            latecomers += cluster.latecomers;
            assertThat(cluster.rotations).as(as).isPositive();
        }
        System.out.printf(
                "seed %d: %d rotations, %d operators ended between writes, %d went on late%n",
                seed, rotations, deaths, latecomers);
    }
}
