// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

/** Something to be done now for an upgrade. Doing it twice does no more than doing it once. */
public sealed interface RollAction {
    /** Have the container of a pod run another image, in the pod it is in. */
    record SetImage(String pod, String uid, String image) implements RollAction {}

    /** Delete a pod, to be made anew by its set. */
    record DeletePod(String pod, String uid) implements RollAction {}

    /** Have the leader in this pod give its leadership away. */
    record HandOver(String pod) implements RollAction {}

    /** Have the pool speak and write these versions, for good. */
    record Finalise(int wire, int layout, boolean ignoreClients) implements RollAction {}

    /** Have the leader empty a storage node so that nothing at all is left on it. */
    record Clear(String node) implements RollAction {}

    /** Have the leader let a storage node take part again that was being emptied. */
    record Cancel(String node) implements RollAction {}
}
