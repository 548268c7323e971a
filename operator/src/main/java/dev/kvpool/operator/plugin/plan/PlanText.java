// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.plan;

import dev.kvpool.operator.plugin.output.TextTable;
import dev.kvpool.operator.plugin.output.Words;

/** What the operator would do now, for people. Pure. */
public final class PlanText {
    private PlanText() {}

    public static String of(PlanView view) {
        return of(view, "\nThe operator would change nothing.\n");
    }

    /** What it would do when a file was applied. */
    public static String ofChange(PlanView view) {
        return of(view, "\nWith that file the operator would change nothing of this pool.\n");
    }

    private static String of(PlanView view, String nothing) {
        StringBuilder text = new StringBuilder("Pool %s in namespace %s would be %s: %s%n"
                .formatted(view.pool(), view.namespace(), view.phase(), view.message()));
        if (view.steps().isEmpty()) {
            text.append(nothing);
        } else {
            text.append("\nThe operator would:\n");
            view.steps()
                    .forEach(step -> text.append("  %s %s%s%n"
                            .formatted(
                                    step.does(),
                                    step.to(),
                                    step.fields().isEmpty() ? "" : ": " + String.join(", ", step.fields()))));
        }
        TextTable why = new TextTable("CONDITION", "STATUS", "REASON", "MESSAGE");
        view.because().forEach(it -> why.row(it.type(), Words.of(it.status()), it.reason(), it.message()));
        return text.append('\n').append(why).toString();
    }
}
