// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.List;
import java.util.function.Predicate;

/**
 * What must hold between settings. It is looked at only when each of them is good by itself, so that one mistake is told
 * once.
 *
 * @param settings those it is about
 * @param holds whether their values fit together
 * @param problem the sentence when they do not; it names the flags
 */
public record Rule(List<Setting<?>> settings, Predicate<Settings> holds, String problem) {}
