// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TokenVerifierTest {
    private static final String AUDIENCE = "kvpool.dev/5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01";
    private static final Instant NOW = Instant.parse("2026-11-01T12:00:00Z");
    private static final TokenIssuer RSA = TokenIssuer.rsa("key-1");
    private static final TokenIssuer EC = TokenIssuer.ec("key-1");

    private Instant now = NOW;
    private long uptimeMs = 5;
    private final InstantSource clock = () -> now;

    private static ObjectNode claims() {
        return TokenIssuer.claims(AUDIENCE, "team-a", "engine", NOW.minusSeconds(60), NOW.plusSeconds(600));
    }

    private static ObjectNode withoutIssuer() {
        ObjectNode claims = claims();
        claims.remove("iss");
        return claims;
    }

    private RefusedTokenException refusal(TokenIssuer issuer, String token) {
        TokenVerifier verifier = new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs);
        return catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(token));
    }

    @Test
    void aTokenOfTheClusterIsBelieved() throws RefusedTokenException {
        for (TokenIssuer issuer : new TokenIssuer[] {RSA, EC}) {
            assertThat(new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs).verify(issuer.token(claims())))
                    .isEqualTo(new ServiceAccountToken(
                            "team-a", "engine", "demo-a-0", "worker-1", NOW.plusSeconds(600), true, Set.of()));
        }
    }

    @Test
    void oneThatIsBoundToNoPodIsBelievedAndSaysSo() throws RefusedTokenException {
        ObjectNode claims = claims();
        ((ObjectNode) claims.get("kubernetes.io")).remove(java.util.List.of("pod", "node"));
        claims.put("aud", AUDIENCE);

        assertThat(new TokenVerifier(AUDIENCE, EC, clock, () -> uptimeMs).verify(EC.token(claims)))
                .isEqualTo(new ServiceAccountToken("team-a", "engine", "", "", NOW.plusSeconds(600), true, Set.of()));
    }

    static Stream<Arguments> changedClaims() {
        return Map.<String, Map.Entry<Reason, Consumer<ObjectNode>>>ofEntries(
                        Map.entry(
                                "another audience",
                                Map.entry(
                                        Reason.AUDIENCE,
                                        it -> it.putArray("aud").add("kvpool.dev/other"))),
                        Map.entry("no audience", Map.entry(Reason.AUDIENCE, it -> it.remove("aud"))),
                        Map.entry("an empty audience", Map.entry(Reason.AUDIENCE, it -> it.put("aud", ""))),
                        Map.entry("expired", Map.entry(Reason.TIME, it -> it.put("exp", NOW.getEpochSecond() - 60))),
                        Map.entry("not yet", Map.entry(Reason.TIME, it -> it.put("nbf", NOW.getEpochSecond() + 61))),
                        Map.entry(
                                "made for more than a day",
                                Map.entry(
                                        Reason.TIME,
                                        it -> it.put("exp", it.get("iat").asLong() + 86_401))),
                        Map.entry("no beginning", Map.entry(Reason.MALFORMED, it -> it.remove("iat"))),
                        Map.entry("no end", Map.entry(Reason.MALFORMED, it -> it.remove("exp"))),
                        Map.entry("an end in words", Map.entry(Reason.MALFORMED, it -> it.put("exp", "never"))),
                        Map.entry("an end before 1970", Map.entry(Reason.MALFORMED, it -> it.put("exp", -1))),
                        Map.entry(
                                "an end beyond time", Map.entry(Reason.MALFORMED, it -> it.put("exp", Long.MAX_VALUE))),
                        Map.entry(
                                "another subject",
                                Map.entry(
                                        Reason.MALFORMED, it -> it.put("sub", "system:serviceaccount:team-b:engine"))),
                        Map.entry(
                                "a user's subject",
                                Map.entry(
                                        Reason.MALFORMED,
                                        it -> it.put("sub", "alice").remove("kubernetes.io"))),
                        Map.entry("an empty account", Map.entry(Reason.MALFORMED, it -> {
                            it.put("sub", "system:serviceaccount:team-a:");
                            ((ObjectNode) it.get("kubernetes.io").get("serviceaccount")).put("name", "");
                        })))
                .entrySet()
                .stream()
                .map(it -> Arguments.of(
                        it.getKey(), it.getValue().getKey(), it.getValue().getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changedClaims")
    void aClaimThatIsNotRightIsRefused(String name, Reason reason, Consumer<ObjectNode> change) {
        ObjectNode claims = claims();
        change.accept(claims);

        assertThat(refusal(EC, EC.token(claims)).reason()).isEqualTo(reason);
    }

    @Test
    void theIssuerIsComparedWhereItIsKnown() throws RefusedTokenException {
        TokenIssuer issuer = TokenIssuer.ec("key-1");
        ObjectNode others = claims().put("iss", "https://other.example");
        assertThat(new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs).verify(issuer.token(others)))
                .isNotNull();

        issuer.nameIssuer(TokenIssuer.ISSUER);
        assertThat(new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs).verify(issuer.token(claims())))
                .isNotNull();
        for (ObjectNode wrong : List.of(others, claims().put("iss", ""), withoutIssuer())) {
            RefusedTokenException refusal = refusal(issuer, issuer.token(wrong));
            assertThat(refusal.reason()).isEqualTo(Reason.SIGNATURE);
            assertThat(refusal).hasMessageContaining("the API server's are of [" + TokenIssuer.ISSUER + "]");
        }
    }

    @Test
    void anApiServerThatTellsItsKeysAndNotItsIssuerEnrolsAsBefore() throws RefusedTokenException {
        TokenIssuer issuer = TokenIssuer.ec("key-1");
        issuer.nameIssuer(TokenIssuer.ISSUER);
        issuer.hidesIssuer = true;
        ObjectNode others = claims().put("iss", "https://other.example");

        assertThat(new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs).verify(issuer.token(others)))
                .isNotNull();
    }

    @Test
    void anIssuerThatIsRenamedIsAskedForAndTheOldNameStays() throws RefusedTokenException {
        TokenIssuer issuer = TokenIssuer.ec("key-1");
        issuer.nameIssuer(TokenIssuer.ISSUER);
        TokenVerifier verifier = new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs);
        String renamed = issuer.token(claims().put("iss", "https://new.example"));
        verifier.verify(issuer.token(claims()));
        issuer.nameIssuer("https://new.example");

        assertThat(catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(renamed)))
                .as("asked for only now and then")
                .isNotNull();
        assertThat(issuer.asked).isEqualTo(1);
        uptimeMs += KnownKeys.BETWEEN_QUESTIONS.toMillis();
        assertThat(verifier.verify(renamed)).isNotNull();
        assertThat(verifier.verify(issuer.token(claims()))).isNotNull();
    }

    @Test
    void clocksMayDifferByAMinute() throws RefusedTokenException {
        String token = EC.token(claims());
        now = NOW.plusSeconds(600 + 59);
        assertThat(new TokenVerifier(AUDIENCE, EC, clock, () -> uptimeMs).verify(token))
                .isNotNull();
        now = NOW.minusSeconds(120);
        assertThat(new TokenVerifier(AUDIENCE, EC, clock, () -> uptimeMs).verify(token))
                .isNotNull();
    }

    @Test
    void whatIsSaidOfATokenDoesNotChangeWithTheClock() {
        ObjectNode claims = claims();
        claims.put("nbf", NOW.getEpochSecond() - 60);
        String token = EC.token(claims);
        for (int seconds : new int[] {3600, -3600}) {
            now = NOW.plusSeconds(seconds);
            String first = refusal(EC, token).getMessage();
            now = now.plusSeconds(7);
            assertThat(refusal(EC, token).getMessage()).isEqualTo(first).contains("2026-11-01T1");
        }
    }

    static Stream<Arguments> notTokens() {
        String good = EC.token(claims());
        String[] parts = good.split("\\.", -1);
        String payload = claims().toString();
        return Stream.of(
                Arguments.of("", Reason.MALFORMED),
                Arguments.of("..", Reason.MALFORMED),
                Arguments.of("a.b", Reason.MALFORMED),
                Arguments.of(good + ".", Reason.MALFORMED),
                Arguments.of("é" + good, Reason.MALFORMED),
                Arguments.of("a".repeat(9000), Reason.MALFORMED),
                Arguments.of(parts[0] + "." + parts[1] + ".", Reason.SIGNATURE),
                Arguments.of(parts[0] + "." + parts[1] + "." + parts[2].substring(2), Reason.SIGNATURE),
                Arguments.of(parts[0] + "." + parts[1] + "." + TokenIssuer.url(new byte[64]), Reason.SIGNATURE),
                Arguments.of(
                        parts[0] + "." + TokenIssuer.url("{}".getBytes(java.nio.charset.StandardCharsets.UTF_8)) + "."
                                + parts[2],
                        Reason.SIGNATURE),
                Arguments.of(TokenIssuer.ec("key-1").token(claims()), Reason.SIGNATURE),
                Arguments.of(TokenIssuer.ec("key-2").token(claims()), Reason.SIGNATURE),
                Arguments.of(EC.sign("{\"alg\":\"none\",\"kid\":\"key-1\"}", payload), Reason.MALFORMED),
                Arguments.of(EC.sign("{\"alg\":\"HS256\",\"kid\":\"key-1\"}", payload), Reason.MALFORMED),
                Arguments.of(EC.sign("{\"alg\":\"RS256\",\"kid\":\"key-1\"}", payload), Reason.MALFORMED),
                Arguments.of(EC.sign("{\"alg\":\"ES256\"}", payload), Reason.SIGNATURE),
                Arguments.of(EC.sign("[]", payload), Reason.MALFORMED),
                Arguments.of(EC.sign("{\"alg\":\"ES256\",\"kid\":\"key-1\"}", "[1]"), Reason.MALFORMED),
                Arguments.of(EC.sign("{\"alg\":\"ES256\",\"kid\":\"key-1\"}", payload + "{}"), Reason.MALFORMED),
                Arguments.of(
                        EC.sign(
                                "{\"alg\":\"ES256\",\"kid\":\"key-1\"}",
                                "{\"aud\":\"" + AUDIENCE + "\"," + payload.substring(1)),
                        Reason.MALFORMED));
    }

    @ParameterizedTest
    @MethodSource("notTokens")
    void whatIsNoTokenOfTheClusterIsRefused(String token, Reason reason) {
        RefusedTokenException refusal = refusal(EC, token);

        assertThat(refusal.reason()).isEqualTo(reason);
        if (token.length() > 20) {
            assertThat(refusal.getMessage()).doesNotContain(token.substring(0, 20));
        }
    }

    @Test
    void inventedKeysDoNotMakeItAskTheApiServerWithoutEnd() throws RefusedTokenException {
        TokenIssuer issuer = TokenIssuer.ec("key-1");
        TokenVerifier verifier = new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs);
        for (int i = 0; i < 50; i++) {
            String invented = TokenIssuer.ec("other-" + i).token(claims());
            assertThat(catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(invented))
                            .reason())
                    .isEqualTo(Reason.SIGNATURE);
        }
        assertThat(issuer.asked).isEqualTo(1);
        verifier.verify(issuer.token(claims()));
        assertThat(issuer.asked).isEqualTo(1);

        uptimeMs += KnownKeys.BETWEEN_QUESTIONS.toMillis();
        String invented = TokenIssuer.ec("other").token(claims());
        assertThat(catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(invented)))
                .isNotNull();
        assertThat(issuer.asked).isEqualTo(2);
    }

    @Test
    void anApiServerThatIsAwayIsNamedAndKeysThatAreKnownStay() throws RefusedTokenException {
        TokenIssuer issuer = TokenIssuer.ec("key-1");
        TokenVerifier verifier = new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs);
        issuer.down = true;
        RefusedTokenException refusal =
                catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(issuer.token(claims())));
        assertThat(refusal.reason()).isEqualTo(Reason.KEYS_UNKNOWN);
        assertThat(refusal).hasMessageContaining("connection refused");

        issuer.down = false;
        uptimeMs += KnownKeys.BETWEEN_QUESTIONS.toMillis();
        verifier.verify(issuer.token(claims()));

        issuer.down = true;
        now = NOW.plusSeconds(300);
        verifier.verify(issuer.token(claims()));
    }

    /** A master that started with its clock a day ahead would else not know keys of tokens for a day. */
    @Test
    void aClockThatIsSetBackDoesNotKeepItFromAsking() throws RefusedTokenException {
        TokenIssuer issuer = TokenIssuer.ec("key-1");
        TokenVerifier verifier = new TokenVerifier(AUDIENCE, issuer, clock, () -> uptimeMs);
        issuer.down = true;
        now = NOW.plusSeconds(86_400);
        assertThat(catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(issuer.token(claims()))))
                .isNotNull();

        issuer.down = false;
        now = NOW;
        uptimeMs += KnownKeys.BETWEEN_QUESTIONS.toMillis();
        verifier.verify(issuer.token(claims()));
    }
}
