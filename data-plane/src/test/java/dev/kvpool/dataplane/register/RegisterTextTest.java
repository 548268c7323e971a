// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.fuzz.FuzzRuns;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegisterTextTest {
    private static final Register FULL = Register.NONE
            .enrolled(Set.of("demo-storage-0", "demo-storage-1", "demo-storage-2", "odd-", "x"))
            .lent(Map.of("engine-5f21", Tenant.DEFAULT))
            .lent(Map.of("engine-7", Tenant.of("chat"), "e", Tenant.of("chat")))
            .purged(new ObjectId(3, -1))
            .raised(new ActiveVersions(1, 2))
            .leased(30_000)
            .away(Set.of("demo-storage-2", "engine-5f21"), new ObjectId(4, 17))
            .holdingNewer(Set.of("engine-5f21"))
            .away(Set.of("demo-storage-1"), new ObjectId(3, 5))
            .away(Set.of("demo-storage-1"), new ObjectId(4, 17))
            .in("demo-storage-0", 0x8c1f, 0)
            .in("demo-storage-1", -2, 0x5a18)
            .in("x", 7, 0)
            .witnessed("demo-storage-0", -3)
            .ssdFailed("demo-storage-1", 0xFFFF_FFFEL)
            .draining("x", new DrainEntry(DrainEntry.Stage.TIMED_OUT, -5, -1, 60_000, 7, 8, true))
            .as(7);

    @Test
    void itIsWrittenForPeopleToo() {
        assertThat(RegisterText.write(FULL)).isEqualTo("""
                        register 1
                        revision 7
                        purge 3.18446744073709551615
                        active 1.2
                        lease 30000
                        lent chat = e
                        lent chat engine- 7
                        lent default engine- 5f21
                        members = odd- x,7
                        members demo-storage- 0,8c1f 1,fffffffffffffffe,5a18 2
                        behind 4.17 demo-storage- 2
                        behind 4.17+ engine- 5f21
                        behind 4.17/3.5 demo-storage- 1
                        witness demo-storage-0 fffffffffffffffd
                        ssd demo-storage-1 fffffffe
                        drain x TIMED_OUT fffffffffffffffb -1 60000 7 8 true
                        end
                        """);
    }

    @Test
    void whatWasWrittenIsRead() throws Exception {
        for (Register register : List.of(Register.NONE, FULL, FULL.as(8).dropped(Set.of("x")))) {
            assertThat(RegisterText.read(RegisterText.write(register))).isEqualTo(register);
        }
    }

    @Test
    void aThousandNodesThatAreAwayFitIntoAnAnnotation() throws Exception {
        Register register = Register.NONE;
        for (int i = 0; i < 1000; i++) {
            // Alike in nothing, and as long as the names of pods get: nothing is shared.
            String id = Integer.toHexString(i * 7919) + "-a-pool-with-a-very-long-name-in-a-zone-" + i + "-storage";
            register = register.enrolled(Set.of(id))
                    .in(id, -1 - i, 0xFFFF_FFFFL)
                    .away(Set.of(id), new ObjectId(2_000_000, -i));
        }

        String text = RegisterText.write(register);

        assertThat(text.length()).isLessThan(RegisterText.CHARS_MAX);
        assertThat(RegisterText.read(text)).isEqualTo(register);
    }

    @Test
    void aThousandNodesThatAreThereTakeLittle() {
        Register register = Register.NONE;
        for (int i = 0; i < 1000; i++) {
            String id = "demo-storage-" + i;
            register = register.enrolled(Set.of(id)).in(id, -1 - i, 0);
        }

        assertThat(RegisterText.write(register).length()).isLessThan(22 * 1024);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "end",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\n",
                "register 2\nrevision 1\npurge 0.0\nactive 0.0\nend\n",
                "register 1\nrevision -1\npurge 0.0\nactive 0.0\nend\n",
                "register 1\nrevision 01\npurge 0.0\nactive 0.0\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nlease 0\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nlease 86400001\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1 1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1,0\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1,x\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1,1,1,1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nbehind 1.1 a- 1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1\nbehind 1.1/1.1 a- 1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1\nbehind 1.1/1.1/1.0 a- 1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nmembers a- 1\nbehind 0.0+ a- 1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nwitness a 1\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nsomething new\nend\n",
                "register 1\nrevision 1\npurge 0.0\nactive 0.0\nend\nend\n",
            })
    void whatNoMasterHasWrittenIsRefused(String text) {
        assertThatThrownBy(() -> RegisterText.read(text)).isInstanceOf(RegisterException.class);
    }

    @Test
    void anythingIsReadAsWhatItSaysOrRefused() {
        List<byte[]> samples = new ArrayList<>();
        for (String text :
                List.of(RegisterText.write(FULL), RegisterText.write(Register.NONE), "behind 9.9/9.8+ a 1\n")) {
            samples.add(text.getBytes(StandardCharsets.UTF_8));
        }

        int count = new FuzzRuns(samples, RegisterException.class)
                .allocating(1024)
                .run(input -> {
                    String text = new String(input, StandardCharsets.UTF_8);
                    if (!RegisterText.write(RegisterText.read(text)).equals(text)) {
                        throw new AssertionError("read as something else");
                    }
                });

        assertThat(count).isPositive();
    }
}
