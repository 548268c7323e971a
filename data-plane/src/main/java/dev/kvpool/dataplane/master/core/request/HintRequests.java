// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.eviction.RetainedObjects;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Groups;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.replication.Promotions;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.util.ArrayList;
import java.util.List;

/** Follows what clients say of the future of objects. A hint promises nothing: a new leader has heard none. */
final class HintRequests {
    private final Index index;
    private final Groups groups;
    private final Absences absences;
    private final RetainedObjects retained;
    private final Promotions promotions;
    private final Counters counters;

    HintRequests(View view, Absences absences, Upkeep upkeep, Counters counters) {
        this.index = view.index();
        this.groups = view.groups();
        this.absences = absences;
        this.retained = upkeep.retained();
        this.promotions = upkeep.promotions();
        this.counters = counters;
    }

    static Status objection(HintRequest request) {
        boolean fits = request.hint() == Hint.RETAIN
                ? request.forMs() >= 1 && request.forMs() <= Bounds.RETAIN_MS_MAX
                : request.forMs() == 0;
        return fits ? Status.OK : Status.INVALID_ARGUMENT;
    }

    HintReply hint(HintRequest request, long nowMs) {
        List<Hinted> results = new ArrayList<>(request.keys().size());
        for (Key key : request.keys()) {
            results.add(request.ofGroup() ? ofGroup(key, request, nowMs) : ofKey(key, request, nowMs));
        }
        return new HintReply(request.requestId(), Status.OK, results);
    }

    private Hinted ofKey(Key key, HintRequest request, long nowMs) {
        if (!key.isValid()) {
            return refused(Status.INVALID_KEY);
        }
        StoredObject object = index.published(key);
        if (object == null) {
            return refused(Status.NOT_FOUND);
        }
        return absences.mayRead(object) ? follow(List.of(object), request, nowMs) : refused(Status.UNAVAILABLE);
    }

    private Hinted ofGroup(Key name, HintRequest request, long nowMs) {
        if (!name.isValid()) {
            return refused(Status.INVALID_KEY);
        }
        List<StoredObject> members = groups.members(name, Bounds.GROUP_OBJECTS_MAX);
        if (members.size() > Bounds.GROUP_OBJECTS_MAX) {
            return refused(Status.TOO_LARGE);
        }
        members.removeIf(object -> !absences.mayRead(object));
        return members.isEmpty() ? refused(Status.NOT_FOUND) : follow(members, request, nowMs);
    }

    private Hinted follow(List<StoredObject> objects, HintRequest request, long nowMs) {
        return switch (request.hint()) {
            case RETAIN -> retain(objects, nowMs + request.forMs());
            case RELEASE -> {
                retained.release(objects);
                yield new Hinted(Status.OK, objects.size());
            }
            case PREFETCH -> prefetch(objects);
            case NULL_VAL -> throw new IllegalArgumentException("no hint");
        };
    }

    private Hinted retain(List<StoredObject> objects, long untilMs) {
        Status status = retained.retain(objects, untilMs);
        if (status == Status.QUEUE_FULL) {
            counters.add(Count.FULL_RETAINED);
        }
        if (status != Status.OK) {
            return refused(status);
        }
        counters.add(Count.RETAINED, objects.size());
        return new Hinted(Status.OK, objects.size());
    }

    /** The first refusal is the answer, after all have been asked for: what can come does. */
    private Hinted prefetch(List<StoredObject> objects) {
        Status status = Status.OK;
        long coming = 0;
        for (StoredObject object : objects) {
            index.touch(object);
            Status of = switch (promotions.fetch(object)) {
                case IN_MEMORY -> Status.OK;
                case ON_ITS_WAY -> {
                    coming++;
                    yield Status.OK;
                }
                case NO_ROOM -> Status.NO_SPACE;
                case QUEUE_FULL -> Status.QUEUE_FULL;
                case UNAVAILABLE -> Status.UNAVAILABLE;
            };
            status = status == Status.OK ? of : status;
        }
        counters.add(Count.PREFETCHED, coming);
        return new Hinted(status, coming);
    }

    private static Hinted refused(Status why) {
        return new Hinted(why, 0);
    }
}
