// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.admin.RulesInEffect;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.file.CacheRulesFile;
import dev.kvpool.dataplane.master.file.FileWatch;
import java.io.IOException;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has a master go by its file of cache rules; while the file is not good, by what it said before, at first by the flags. */
final class RulesFollower {
    private static final Logger LOG = LoggerFactory.getLogger(RulesFollower.class);

    private final Optional<CacheRulesFile> file;
    private volatile RulesInEffect now;

    RulesFollower(MasterConfig config) {
        file = config.cacheRulesFile().map(path -> new CacheRulesFile(path, config.cache()));
        now = new RulesInEffect("", config.cache(), "");
        try {
            read().ifPresent(this::follow);
        } catch (IOException e) {
            problem(e.getMessage());
        }
    }

    private Optional<CacheRulesFile.Version> read() throws IOException {
        return file.isEmpty() ? Optional.empty() : file.get().readIfChanged();
    }

    RulesInEffect now() {
        return now;
    }

    CacheRules rules() {
        return now.rules();
    }

    /** Follows the file from now on. */
    void start(CoreLoop loop, BooleanSupplier ended) {
        if (file.isPresent()) {
            FileWatch.start(
                    "cache-rules",
                    () -> read().ifPresent(version -> loop.submit(core -> {
                        core.goBy(version.rules(), loop.nowMs());
                        follow(version);
                    })),
                    this::problem,
                    ended);
        }
    }

    /** On the loop's thread; whether there is a problem, the other one says. */
    private synchronized void follow(CacheRulesFile.Version version) {
        LOG.info("goes by cache rules {}: {}", version.digest(), version.rules());
        now = new RulesInEffect(version.digest(), version.rules(), now.problem());
    }

    private synchronized void problem(String problem) {
        if (!problem.isEmpty() && !problem.equals(now.problem())) {
            LOG.warn("the rules of the cache stay as they are: {}", problem);
        }
        now = now.despite(problem);
    }
}
