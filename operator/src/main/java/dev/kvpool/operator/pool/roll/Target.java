// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

/**
 * What a pool is brought to.
 *
 * @param masters the image of its masters, which is another one only where they cannot go the way of the storage nodes
 * @param storage the image of its storage nodes
 */
record Target(String masters, String storage) {
    /** The same image for everybody. */
    static Target of(String image) {
        return new Target(image, image);
    }

    String of(boolean master) {
        return master ? masters : storage;
    }
}
