// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Keeps tokens, one for each pool, and has another one made after 70 to 80 % of the life of each, not of all at once. All masters of a pool are asked at
 * the same time, so who needs a token that is being made waits for it, and fails with it. While none can be had, the last one is good until its end.
 */
public final class KeptTokens implements PoolTokens {
    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final int PERCENT = 100;
    private static final int LATEST_PERCENT = 80;
    private static final int SPREAD_PERCENT = 10;

    private final TokenIssuer issuer;
    private final InstantSource clock;
    private final Duration wait;

    /** Of pools that are gone nothing says that they are, so what has ended is dropped with the next token that is made. */
    private final Map<String, Token> byAudience = new ConcurrentHashMap<>();

    private final Map<String, CompletableFuture<Token>> beingMade = new ConcurrentHashMap<>();

    private record Token(String text, Instant useUntil, Instant until) {
        boolean isYoung(Instant now) {
            return now.isBefore(useUntil);
        }

        boolean hasEnded(Instant now) {
            return !now.isBefore(until);
        }
    }

    /**
     * Keeps those of this issuer.
     *
     * @param issuer may block
     */
    public KeptTokens(TokenIssuer issuer, InstantSource clock) {
        this(issuer, clock, WAIT);
    }

    /**
     * As above.
     *
     * @param wait for a token that another thread makes
     */
    KeptTokens(TokenIssuer issuer, InstantSource clock, Duration wait) {
        this.issuer = issuer;
        this.clock = clock;
        this.wait = wait;
    }

    @Override
    public String token(String audience) throws IOException {
        Instant now = clock.instant();
        Optional<Token> last = Optional.ofNullable(byAudience.get(audience)).filter(it -> !it.hasEnded(now));
        if (last.filter(it -> it.isYoung(now)).isPresent()) {
            return last.get().text();
        }
        try {
            return another(audience, now).text();
        } catch (IOException e) {
            return last.orElseThrow(() -> e).text();
        }
    }

    @Override
    public void refused(String token) {
        byAudience.values().removeIf(it -> it.text().equals(token));
    }

    private Token another(String audience, Instant now) throws IOException {
        CompletableFuture<Token> own = new CompletableFuture<>();
        CompletableFuture<Token> made = beingMade.putIfAbsent(audience, own);
        if (made != null) {
            return await(made);
        }
        try {
            Token justMade = byAudience.get(audience);
            own.complete(justMade != null && justMade.isYoung(now) ? justMade : make(audience, now));
        } catch (IOException | RuntimeException e) {
            own.completeExceptionally(e);
        } finally {
            beingMade.remove(audience);
        }
        return await(own);
    }

    private Token make(String audience, Instant now) throws IOException {
        TokenIssuer.Issued issued = issuer.issue(audience);
        int percent = LATEST_PERCENT - Math.floorMod(audience.hashCode(), SPREAD_PERCENT + 1);
        Duration use =
                Duration.between(now, issued.until()).multipliedBy(percent).dividedBy(PERCENT);
        Token token = new Token(issued.text(), now.plus(use), issued.until());
        byAudience.values().removeIf(other -> other.hasEnded(now));
        byAudience.put(audience, token);
        return token;
    }

    private Token await(CompletableFuture<Token> made) throws IOException {
        try {
            return made.get(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException why
                    ? new IOException(why.getMessage(), why)
                    : new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("the API server has given no token within %d ms".formatted(wait.toMillis()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the operator is stopping", e);
        }
    }
}
