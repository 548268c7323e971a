// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.member.Member;

/** Something that is done now. Doing it twice does no more than doing it once. */
public sealed interface Action {
    /** Have the container of a pod run another image, in the pod it is in. */
    record SetImage(String pod, String uid, String image) implements Action {}

    static Action setImage(Member member, String image) {
        return new SetImage(member.pod(), member.uid(), image);
    }

    static Action deletePod(Member member) {
        return new DeletePod(member.pod(), member.uid());
    }

    /** Delete a pod, which comes back from the template of its set. */
    record DeletePod(String pod, String uid) implements Action {}

    /** Have the leader in this pod give its leadership away. */
    record HandOver(String pod) implements Action {}

    /**
     * Have the leader empty a storage node.
     *
     * @param clear so that nothing at all is left on it, copies of what others hold included
     */
    record Empty(String node, boolean clear) implements Action {}

    /** Have the leader let a storage node take part again that was being emptied. */
    record Cancel(String node) implements Action {}

    /** Have the pool speak and write these versions, for good. */
    record Finalise(int wire, int layout, boolean ignoreClients) implements Action {}
}
