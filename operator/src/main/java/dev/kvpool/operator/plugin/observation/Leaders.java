// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.observation;

import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.observation.PoolObservation;

/** The master that a command is for. Pure. */
public final class Leaders {
    private Leaders() {}

    /** What the leader says. @throws PluginException when none serves and answers, with why */
    public static PoolReport serving(PoolObservation seen) {
        return seen.leaderReport().orElseThrow(() -> new PluginException(why(seen)));
    }

    private static String why(PoolObservation seen) {
        return seen.leadership()
                .map(leader -> switch (seen.answers().get(leader.pod())) {
                    case MasterAnswer.Silent(String reason) ->
                        "%s holds the Lease and could not be asked: %s".formatted(leader.pod(), reason);
                    case MasterAnswer.Report(PoolReport report) ->
                        "%s holds the Lease and does not serve yet: it says it is %s"
                                .formatted(leader.pod(), report.state());
                    case null -> "%s holds the Lease and does not run".formatted(leader.pod());
                })
                .orElse("no master of pool %s leads".formatted(seen.names().pool()));
    }
}
