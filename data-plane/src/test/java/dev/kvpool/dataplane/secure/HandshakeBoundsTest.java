// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class HandshakeBoundsTest {
    private long nowMs = 5;
    private final HandshakeBounds bounds = new HandshakeBounds(512, () -> nowMs);

    private static RemoteNetwork address(String text) {
        return RemoteNetwork.of(InetAddress.ofLiteral(text));
    }

    /** One of many other addresses. */
    private static RemoteNetwork other(int number) {
        return address("10.1." + number / 250 + "." + (1 + number % 250));
    }

    @Test
    void oneAddressHasOnlySoManyOpen() {
        RemoteNetwork one = address("10.0.0.1");
        for (int i = 0; i < HandshakeBounds.OPEN_OF_ADDRESS_MAX; i++) {
            assertThat(bounds.begin(one)).isEmpty();
        }
        assertThat(bounds.begin(one)).hasValue("32 other handshakes from its address are open");
        assertThat(bounds.begin(address("10.0.0.2"))).isEmpty();
        bounds.end(one);
        assertThat(bounds.begin(one)).isEmpty();
    }

    @Test
    void oneAddressBeginsOnlySoManyASecond() {
        RemoteNetwork one = address("10.0.0.1");
        for (int i = 0; i < HandshakeBounds.BEGUN_OF_ADDRESS_MAX; i++) {
            assertThat(bounds.begin(one)).isEmpty();
            bounds.end(one);
        }
        assertThat(bounds.begin(one)).hasValue("more than 100 handshakes a second from its address");
        assertThat(bounds.begin(address("10.0.0.2"))).isEmpty();
        nowMs += 1_000;
        assertThat(bounds.begin(one)).isEmpty();
    }

    /** Nodes of a cluster, and all their pods, may share what a single host has elsewhere. */
    @Test
    void ofIpv6EachAddressCountsAndEightTimesAsMuchTheNetwork() {
        for (int i = 0; i < HandshakeBounds.OPEN_OF_ADDRESS_MAX; i++) {
            assertThat(bounds.begin(address("2001:db8::1"))).isEmpty();
        }
        assertThat(bounds.begin(address("2001:db8::1"))).isPresent();
        for (int i = 32; i < 256; i++) {
            assertThat(bounds.begin(address("2001:db8::2:" + Integer.toHexString(i))))
                    .isEmpty();
        }
        assertThat(bounds.begin(address("2001:db8::ffff")))
                .hasValue("256 other handshakes from its network of 64 bits are open");
        assertThat(bounds.begin(address("2001:db8:0:1::1"))).isEmpty();
        bounds.end(address("2001:db8::1"));
        assertThat(bounds.begin(address("2001:db8::ffff"))).isEmpty();
    }

    @Test
    void anAddressThatWasAuthenticatedBeforeMayHaveMore() {
        RemoteNetwork gateway = address("10.0.0.1");
        bounds.authenticated(gateway);
        for (int i = 0; i < 4 * HandshakeBounds.OPEN_OF_ADDRESS_MAX; i++) {
            assertThat(bounds.begin(gateway)).isEmpty();
        }
        assertThat(bounds.begin(gateway)).hasValue("128 other handshakes from its address are open");
    }

    @Test
    void strangersLeavePlacesForThoseThatWereAuthenticatedBefore() {
        RemoteNetwork member = address("10.0.0.1");
        for (int i = 0; i < 384; i++) {
            assertThat(bounds.begin(other(i))).isEmpty();
        }
        assertThat(bounds.begin(member).orElseThrow()).startsWith("384 other handshakes are open, and the places left");
        bounds.authenticated(member);
        assertThat(bounds.begin(member)).isEmpty();
    }

    @Test
    void allTogetherHaveOnlySoManyOpen() {
        for (int i = 0; i < 512; i++) {
            bounds.authenticated(other(i));
            assertThat(bounds.begin(other(i))).isEmpty();
        }
        RemoteNetwork member = other(512);
        bounds.authenticated(member);
        assertThat(bounds.begin(member)).hasValue("512 other handshakes are open");
        bounds.end(other(0));
        assertThat(bounds.begin(member)).isEmpty();
    }

    @Test
    void itRemembersOnlySoMuch() {
        for (int i = 0; i <= HandshakeBounds.KNOWN_MAX; i++) {
            bounds.authenticated(other(i));
            assertThat(bounds.begin(other(i))).isEmpty();
            bounds.end(other(i));
        }
        assertThat(bounds.isKnown(other(0))).isFalse();
        assertThat(bounds.isKnown(other(HandshakeBounds.KNOWN_MAX))).isTrue();
        nowMs += 1_000;
        assertThat(bounds.begin(other(0))).isEmpty();
        assertThat(bounds.addresses()).isEqualTo(1);
    }
}
