// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.admin.RulesInEffect;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.file.CacheRulesFile;
import dev.kvpool.dataplane.master.file.FileWatch;
import dev.kvpool.dataplane.master.file.TenantQuotas;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has a master go by its file of cache rules; while the file is not good, by what it said before, at first by the flags. */
final class RulesFollower {
    private static final Logger LOG = LoggerFactory.getLogger(RulesFollower.class);

    private final Optional<CacheRulesFile> file;
    private final boolean changes;
    private final AtomicReference<RulesInEffect> now;

    /** Those that were read last, which the core may not have heard of. */
    private CacheRules latest;

    RulesFollower(MasterConfig config) {
        changes = config.changesCacheRules();
        file = config.cacheRulesFile().map(path -> new CacheRulesFile(path, config.cache()));
        now = new AtomicReference<>(new RulesInEffect("", config.cache(), ""));
        latest = config.cache();
        try {
            read().ifPresent(version -> {
                latest = version.rules();
                follow(version);
            });
        } catch (IOException e) {
            problem(e.getMessage());
        }
    }

    private synchronized Optional<CacheRulesFile.Version> read() throws IOException {
        return file.isEmpty() ? Optional.empty() : file.get().readIfChanged();
    }

    RulesInEffect now() {
        return now.get();
    }

    CacheRules rules() {
        return now.get().rules();
    }

    /** Whether what is in the file may be changed here. */
    boolean changes() {
        return changes;
    }

    /**
     * Changes the ceiling of a tenant in the file, and goes by it before the answer comes.
     *
     * @param ceilingBytes empty: it has no quota any more
     * @throws IllegalArgumentException when the tenant may not have that
     * @throws IllegalStateException when what the file says does not count
     */
    synchronized CompletableFuture<Void> changeQuota(String tenant, OptionalLong ceilingBytes, CoreLoop loop)
            throws IOException {
        read().ifPresent(version -> submit(version, loop, new CompletableFuture<>()));
        String problem = now.get().problem();
        if (!problem.isEmpty()) {
            throw new IllegalStateException(problem);
        }
        CacheRulesFile changed = file.orElseThrow();
        changed.write(TenantQuotas.changed(latest.quotas(), tenant, ceilingBytes));
        CompletableFuture<Void> followed = new CompletableFuture<>();
        read().ifPresentOrElse(version -> submit(version, loop, followed), () -> followed.complete(null));
        return followed;
    }

    /** Follows the file from now on. */
    void start(CoreLoop loop, BooleanSupplier ended) {
        if (file.isPresent()) {
            FileWatch.start(
                    "cache-rules",
                    () -> read().ifPresent(version -> submit(version, loop, new CompletableFuture<>())),
                    this::problem,
                    ended);
        }
    }

    private synchronized void submit(CacheRulesFile.Version version, CoreLoop loop, CompletableFuture<Void> followed) {
        latest = version.rules();
        loop.submit(core -> {
            core.goBy(version.rules(), loop.nowMs());
            follow(version);
            followed.complete(null);
        });
    }

    /** On the loop's thread, which waits for no file; whether there is a problem, the other one says. */
    private void follow(CacheRulesFile.Version version) {
        LOG.info("goes by cache rules {}: {}", version.digest(), version.rules());
        now.updateAndGet(before -> new RulesInEffect(version.digest(), version.rules(), before.problem()));
    }

    private void problem(String problem) {
        RulesInEffect before = now.getAndUpdate(inEffect -> inEffect.despite(problem));
        if (!problem.isEmpty() && !problem.equals(before.problem())) {
            LOG.warn("the rules of the cache stay as they are: {}", problem);
        }
    }
}
