// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.nio.file.Path;
import java.util.List;

/** Where a master writes down what it evicts: settings of {@code master}, which {@code local} passes on. */
public final class EvictionLogSettings {
    public static final Setting<Path> FILE = Setting.optional(
            "eviction-log",
            Formats.FILE,
            "File that gets a JSON line for each evicted object; local adds .master-K for master K.");

    public static final Setting<Long> SIZE = Setting.withDefault(
            "eviction-log-size",
            Sizes.between(1L << 20, 1L << 40),
            "64MiB",
            "Largest size of the eviction log; a full one is kept as FILE.1 until the next one is full.");

    public static final List<Setting<?>> ALL = List.of(FILE, SIZE);

    private EvictionLogSettings() {}
}
