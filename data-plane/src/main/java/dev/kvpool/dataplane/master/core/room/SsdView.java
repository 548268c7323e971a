// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.wire.Medium;

/** What a master knows of a node's SSD tier. */
public final class SsdView {
    private final Held held;
    private long number;
    private long capacityBytes;
    private long capacitySlots;
    private String problem = "";
    private long refusedUntilMs = Long.MIN_VALUE;

    /** Objects on their way there, what they take in memory, and what they will take on the SSD. */
    private int demotions;

    private long leavingBytes;
    private long comingBytes;

    public SsdView(Held held) {
        this.held = held;
    }

    public void introduced(NodeInfo info) {
        number = info.tier();
        capacityBytes = 0;
        capacitySlots = 0;
        problem = "";
        refusedUntilMs = Long.MIN_VALUE;
        for (Segment segment : info.segments()) {
            if (segment.medium() == Medium.SSD) {
                capacityBytes += segment.capacityBytes();
                capacitySlots += segment.slots();
            }
        }
    }

    public void told(NodeStats stats) {
        problem = stats.ssd().problem();
    }

    /** It took nothing just now. */
    public void refused(long nowMs) {
        refusedUntilMs = nowMs + Bounds.SSD_PAUSE_MS;
    }

    public long capacityBytes() {
        return capacityBytes;
    }

    public long capacitySlots() {
        return capacitySlots;
    }

    public long usedBytes() {
        return held.bytes();
    }

    public long objects() {
        return held.count();
    }

    /** Why it is off; empty when it works or there is none. */
    public String problem() {
        return problem;
    }

    /** What tells it from others; 0 when there is none. */
    public long number() {
        return number;
    }

    /** Its node has, or had, one that does not work: what is freed is not cleared there. */
    public boolean hasFailed() {
        return number != 0 && !works();
    }

    /** Whether there is one, or was, so that objects may lie there. */
    public boolean isThere() {
        return capacityBytes > 0 || objects() > 0;
    }

    public boolean works() {
        return capacityBytes > 0 && problem.isEmpty();
    }

    /** Whether an object may go there now, as far as room and bounds are concerned. */
    public boolean takes(int keyLength, long payloadLength, long nowMs) {
        return works()
                && nowMs >= refusedUntilMs
                && keyLength <= Bounds.SSD_KEY_BYTES_MAX
                && payloadLength <= Bounds.SSD_VALUE_BYTES_MAX
                && usedBytes() + comingBytes + ExtentSize.onSsd(payloadLength) <= capacityBytes
                && objects() + demotions < capacitySlots;
    }

    /** Whether one more may be on its way. */
    public boolean hasBudget() {
        return demotions < Bounds.DEMOTIONS_PER_NODE_MAX && leavingBytes < Bounds.DEMOTED_BYTES_PER_NODE_MAX;
    }

    public void demoting(long bytes, long ssdBytes) {
        demotions++;
        leavingBytes += bytes;
        comingBytes += ssdBytes;
    }

    public void demoted(long bytes, long ssdBytes) {
        demotions--;
        leavingBytes -= bytes;
        comingBytes -= ssdBytes;
    }

    /** Bytes of memory that will be free when what is on its way has arrived. */
    public long leavingBytes() {
        return leavingBytes;
    }

    public int demotions() {
        return demotions;
    }

    /** What has to go from here so that there is room for what comes; nothing below the mark. */
    public Need need() {
        long staying = usedBytes() - held.freeingBytes();
        long slots = objects() - held.freeingSlots();
        boolean above = staying > capacityBytes * Bounds.SSD_HIGH || slots > capacitySlots * Bounds.SSD_HIGH;
        return works() && above
                ? new Need(
                        staying - (long) (capacityBytes * Bounds.SSD_LOW),
                        slots - (long) (capacitySlots * Bounds.SSD_LOW))
                : new Need(0, 0);
    }
}
