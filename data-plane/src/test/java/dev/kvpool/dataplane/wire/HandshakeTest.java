// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HandshakeTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final UUID OTHER = UUID.fromString("00000000-0000-0000-0000-000000000001");
    private static final Versions OURS = versions("0.2.0", 2, 4, 1, 2);
    private static final Handshake.Self SELF = new Handshake.Self("demo-master-0", POOL, 77, OURS);

    @Test
    void theHighestCommonWireVersionIsChosen() {
        Welcome welcome = welcome(hello(Role.CLIENT, POOL, 0, versions("0.1.0", 1, 3, 9, 9), "c"));

        assertThat(welcome.wireChosen()).isEqualTo(3);
        assertThat(welcome.poolId()).isEqualTo(POOL);
        assertThat(welcome.incarnation()).isEqualTo(77);
        assertThat(welcome.name()).isEqualTo("demo-master-0");
    }

    @Test
    void clientsAndTransientNodesMayNotKnowTheirPoolYet() {
        assertThat(welcome(hello(Role.CLIENT, HandshakeMessage.ANY_POOL, 0, OURS, "c")))
                .isNotNull();
        assertThat(welcome(hello(Role.NODE, HandshakeMessage.ANY_POOL, 0, OURS, "n")))
                .isNotNull();
    }

    @Test
    void noCommonWireVersionNamesBothSides() {
        Refused refused = refused(hello(Role.CLIENT, POOL, 0, versions("0.9.0", 5, 6, 1, 1), "engine-1"));

        assertThat(refused.code()).isEqualTo(RefusalCode.WIRE_VERSION);
        assertThat(refused.wire()).isEqualTo(OURS.wire());
        assertThat(refused.message())
                .contains("client engine-1", "0.9.0", "5-6", "demo-master-0", "0.2.0", "2-4", "upgrade");
    }

    @ParameterizedTest
    @CsvSource({
        // the peer knows, active, spoken (0: refused); this master knows 2 to 4
        "1, 3, 3, 3",
        "1, 3, 2, 2",
        "2, 4, 0, 4",
        "3, 4, 2, 0",
        "2, 2, 3, 0",
    })
    void theActiveVersionIsSpokenAndMustBeKnown(int min, int max, int active, int spoken) {
        Hello hello = hello(Role.CLIENT, POOL, 0, versions("0.1.0", min, max, 1, 1), "engine-1");

        HandshakeMessage.Answer answer = Handshake.answer(hello, SELF, new ActiveVersions(active, 1));

        switch (answer) {
            case Welcome welcome -> assertThat(welcome.wireChosen()).isEqualTo(spoken);
            case Refused refused -> {
                assertThat(spoken).isZero();
                assertThat(refused.code()).isEqualTo(RefusalCode.WIRE_VERSION);
                assertThat(refused.message())
                        .contains("client engine-1", "demo-master-0", "the pool's active one is " + active);
            }
        }
    }

    @Test
    void theSegmentLayoutIsNoMatterToAMaster() {
        Versions newerLayout = versions("0.9.0", 2, 4, 3, 3);

        assertThat(welcome(hello(Role.NODE, POOL, 0, newerLayout, "n"))).isNotNull();
        assertThat(welcome(hello(Role.CLIENT, POOL, 0, newerLayout, "c"))).isNotNull();
    }

    @Test
    void anotherPoolIsRefusedAndBothAreNamed() {
        Refused refused = refused(hello(Role.NODE, OTHER, 0, OURS, "n"));

        assertThat(refused.code()).isEqualTo(RefusalCode.POOL_MISMATCH);
        assertThat(refused.message()).contains(OTHER.toString(), POOL.toString());
    }

    @Test
    void whoeverMeantAnotherLifeOfThisMasterIsRefused() {
        assertThat(refused(hello(Role.CLIENT, POOL, 78, OURS, "c")).code()).isEqualTo(RefusalCode.IDENTITY_MISMATCH);
        assertThat(welcome(hello(Role.CLIENT, POOL, 77, OURS, "c"))).isNotNull();
    }

    @Test
    void aMasterDoesNotServeMasters() {
        assertThat(refused(hello(Role.MASTER, POOL, 0, OURS, "m")).code()).isEqualTo(RefusalCode.ROLE);
        assertThat(refused(hello(Role.NULL_VAL, POOL, 0, OURS, "m")).code()).isEqualTo(RefusalCode.ROLE);
    }

    @Test
    void aWrongMagicAndNamesThatAreNoneAreRefused() {
        assertThat(refused(new Hello(1, Role.NODE, POOL, 5, 0, OURS, "n")).code())
                .isEqualTo(RefusalCode.PROTOCOL);
        assertThat(refused(new Hello(HandshakeMessage.MAGIC, Role.NODE, POOL, 0, 0, OURS, "n"))
                        .code())
                .isEqualTo(RefusalCode.PROTOCOL);
        for (String name : new String[] {"", "a\nb", "x".repeat(254)}) {
            assertThat(refused(hello(Role.NODE, POOL, 0, OURS, name)).code())
                    .as(name)
                    .isEqualTo(RefusalCode.PROTOCOL);
        }
    }

    private static Versions versions(String product, int wireMin, int wireMax, int layoutMin, int layoutMax) {
        return new Versions(
                product,
                new VersionRange(wireMin, wireMax),
                new VersionRange(layoutMin, layoutMax),
                new VersionRange(1, 1));
    }

    private static Hello hello(Role role, UUID pool, long expectedPeer, Versions versions, String name) {
        return new Hello(HandshakeMessage.MAGIC, role, pool, 5, expectedPeer, versions, name);
    }

    private static Welcome welcome(Hello hello) {
        return (Welcome) Handshake.answer(hello, SELF, ActiveVersions.UNKNOWN);
    }

    private static Refused refused(Hello hello) {
        return (Refused) Handshake.answer(hello, SELF, ActiveVersions.UNKNOWN);
    }
}
