// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.master.core.base.CacheRules;

/**
 * The rules of the cache a master goes by.
 *
 * @param digest first 16 hexadecimal digits of the SHA-256 of the file they are from; empty when they are the start's
 * @param problem why what the file says now does not count; empty when it does
 */
public record RulesInEffect(String digest, CacheRules rules, String problem) {
    /** The same rules, since what the file says now cannot count. */
    public RulesInEffect despite(String newProblem) {
        return new RulesInEffect(digest, rules, newProblem);
    }
}
