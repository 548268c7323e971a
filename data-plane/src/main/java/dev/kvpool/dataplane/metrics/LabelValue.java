// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

/** Values of labels in the text for Prometheus, of series that the registry does not write. */
final class LabelValue {
    private LabelValue() {}

    static String quoted(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
