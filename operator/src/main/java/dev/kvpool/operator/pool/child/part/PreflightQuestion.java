// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import java.util.List;

/**
 * What a preflight Job shall find out.
 *
 * @param image the image that the pool may be upgraded to
 * @param masters pods of the masters it asks, all of which must answer
 * @param pulls machines to which Jobs of their own bring the image, once it has answered that the pool can be upgraded
 */
public record PreflightQuestion(String image, List<String> masters, List<String> pulls) {
    public PreflightQuestion {
        masters = List.copyOf(masters);
        pulls = List.copyOf(pulls);
    }
}
