// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import java.util.regex.Pattern;

/** Specs of pools in tests: those that do not say otherwise are without TLS, of which most tests are not. */
public final class PlainSpec {
    private static final Pattern SAID = Pattern.compile("\\bsecurity\"?:");

    private PlainSpec() {}

    /** The same, in the flow style of YAML or JSON, with mode Off where nothing is said of security. */
    public static String of(String spec) {
        return SAID.matcher(spec).find() ? spec : spec.replaceFirst("[{]", "{security: {mode: Off}, ");
    }
}
