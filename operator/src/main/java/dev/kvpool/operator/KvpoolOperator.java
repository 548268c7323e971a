// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import dev.kvpool.operator.prepare.Rehearsal;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;

/** The program: runs the operator until it is asked to stop, or with the argument {@code prepare} rehearses that. */
@QuarkusMain
public final class KvpoolOperator {
    private KvpoolOperator() {}

    /**
     * Starts it.
     *
     * @param arguments nothing, or {@code prepare}
     * @throws IOException when it cannot rehearse
     */
    public static void main(String... arguments) throws IOException {
        if (arguments.length == 1 && arguments[0].equals("prepare")) {
            Rehearsal.begin();
        }
        Quarkus.run(arguments);
    }
}
