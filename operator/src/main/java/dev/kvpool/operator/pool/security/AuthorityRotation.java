// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.security.RotationView.Member;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a pool gets its next certificate authority while it serves: what is to be done next, from what is seen. Pure. All that was done stands in
 * ConfigMap POOL-trust, so that an operator which ends at any point is followed by one that goes on:
 *
 * <pre>
 * the ConfigMap has        what is done                                          when
 * one CA                   {@link Step#BEGIN}: another one, trusted too          30 days before its end, or on request
 * next CA, without a time  {@link Step#CONFIRM}: is its key there?               at once; where it was lost, another one is made
 * next CA, with a time     {@link Step#SWITCH}: masters are to get its key       all members trust it, but for those silent for two days, and clients
 *                                                                                had a day; or 7 days before the end
 * previous CA, no time     {@link Step#MARK}: the time is noted                  all masters have the next key
 * previous CA, with a time {@link Step#DROP}: its root and its key go            all members have certificates of the next one, and a day is over
 * </pre>
 */
public final class AuthorityRotation {
    /** No certificate of a member lives longer, and clocks may differ a little. */
    private static final Duration LONGEST_LIFE = Duration.ofHours(25);

    private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(5);
    private static final Duration LAST_DAYS = Duration.ofDays(7);
    private static final int LAST_PART = 4;

    /** What is done next. */
    public enum Step {
        /** Nothing before something is seen that is not yet. */
        WAIT,
        BEGIN,
        CONFIRM,
        SWITCH,
        MARK,
        DROP
    }

    /**
     * What is decided.
     *
     * @param step what is done now
     * @param waitsFor what a rotation that is under way waits for, as a sentence; empty when it waits for nothing, or none is under way
     */
    public record Decision(Step step, String waitsFor) {
        static Decision now(Step step) {
            return new Decision(step, "");
        }

        static Decision waiting(String sentence) {
            return new Decision(Step.WAIT, sentence);
        }
    }

    private final RotationView view;
    private final PoolTrust trust;
    private final RotationTerms terms;

    private AuthorityRotation(RotationView view) {
        this.view = view;
        this.trust = view.trust();
        this.terms = view.terms();
    }

    /** Decides. */
    public static Decision decide(RotationView view) {
        return view.trust().active() && view.trust().isIntact()
                ? new AuthorityRotation(view).decide()
                : Decision.waiting("");
    }

    private Decision decide() {
        if (trust.previous().isPresent()) {
            return noted(trust.previous().get().since()).map(this::drop).orElseGet(this::mark);
        }
        if (trust.next().isPresent()) {
            return noted(trust.next().get().since()).map(this::letMastersSign).orElse(Decision.now(Step.CONFIRM));
        }
        return isDue() || isRequested() ? Decision.now(Step.BEGIN) : Decision.waiting("");
    }

    /** A time of a clock that was ahead is noted again. */
    private Optional<Instant> noted(Optional<Instant> since) {
        return since.filter(at -> !at.isAfter(view.now().plus(CLOCKS_DIFFER)));
    }

    private boolean isDue() {
        return !view.now().isBefore(end().minus(terms.renewBefore()));
    }

    /** A request that is older than the CA has been met. */
    private boolean isRequested() {
        return view.requested()
                .filter(at -> !at.isAfter(view.now()))
                .filter(at -> trust.madeAt().filter(at::isAfter).isPresent())
                .isPresent();
    }

    private Instant end() {
        return trust.notAfter().orElse(Instant.EPOCH);
    }

    private Instant latest() {
        return latest(trust, terms);
    }

    /** From then on a rotation waits for no process any more: all that has not followed is shut out at the end anyway. */
    public static Instant latest(PoolTrust trust, RotationTerms terms) {
        Duration last = terms.renewBefore().dividedBy(LAST_PART);
        return trust.signsUntil().orElse(Instant.EPOCH).minus(last.compareTo(LAST_DAYS) < 0 ? last : LAST_DAYS);
    }

    private Decision letMastersSign(Instant since) {
        String digest = trust.bundle().digest();
        List<Member> late = Stream.concat(view.masters().stream(), view.members().stream())
                .filter(member -> !member.trusts(digest))
                .toList();
        Instant clients = since.plus(terms.clientWait());
        if (late.isEmpty()) {
            return until(clients, "It waits until %s, so that all clients trust the next one.");
        }
        // One that says nothing for longer than a certificate lives needs another one, by the roots that it finds then.
        Instant most = late.stream().allMatch(Member::isSilent) ? clients.plus(LONGEST_LIFE) : latest();
        List<String> pods = late.stream().map(Member::pod).toList();
        return until(
                most,
                "It waits for %s, until %%s at most: %s not said yet to trust the next one."
                        .formatted(names(pods), pods.size() == 1 ? "it has" : "they have"));
    }

    /** In the last days of the CA no longer than that. */
    private Decision until(Instant moment, String sentence) {
        Instant end = moment.isBefore(latest()) ? moment : latest();
        return view.now().isBefore(end) ? Decision.waiting(sentence.formatted(end)) : Decision.now(Step.SWITCH);
    }

    private Decision mark() {
        List<String> late = view.masters().stream()
                .filter(master -> !master.mounts().equals(trust.fingerprint()))
                .map(Member::pod)
                .toList();
        if (view.masters().isEmpty()) {
            return Decision.waiting("It waits for masters.");
        }
        return late.isEmpty()
                ? Decision.now(Step.MARK)
                : Decision.waiting("It waits for %s to be made again with the next key.".formatted(names(late)));
    }

    private Decision drop(Instant since) {
        Instant kept = since.plus(terms.keepPrevious());
        if (view.now().isBefore(kept)) {
            return Decision.waiting("It waits until %s, when no client has a certificate of the previous one any more."
                    .formatted(kept));
        }
        Instant all = since.plus(LONGEST_LIFE);
        List<String> late = view.members().stream()
                .filter(member -> !member.isOf(trust.fingerprint()))
                .map(Member::pod)
                .toList();
        return late.isEmpty() || !view.now().isBefore(all)
                ? Decision.now(Step.DROP)
                : Decision.waiting(
                        "It waits for %s, until %s at most: %s not said yet to have a certificate of the next one."
                                .formatted(names(late), all, late.size() == 1 ? "it has" : "they have"));
    }

    private static String names(List<String> pods) {
        return NameList.of(pods.stream().sorted().toList());
    }
}
