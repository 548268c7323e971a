// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.replication.CopyTasks;
import dev.kvpool.dataplane.master.core.replication.CopyTasks.Begun;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReport;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.Optional;

/** Copies that clients ask for, and how far they are. */
final class TaskRequests {
    private final Index index;
    private final Absences absences;
    private final CopyTasks tasks;

    TaskRequests(View view, Absences absences, CopyTasks tasks) {
        this.index = view.index();
        this.absences = absences;
        this.tasks = tasks;
    }

    TaskReply copy(CopyRequest request, Authority authority, long nowMs) {
        if (!request.key().isValid()) {
            return refusal(request.requestId(), Status.INVALID_KEY);
        }
        StoredObject object = index.published(request.key());
        if (object == null) {
            return refusal(request.requestId(), Status.NOT_FOUND);
        }
        if (!absences.mayRead(object)) {
            return refusal(request.requestId(), Status.UNAVAILABLE);
        }
        Begun begun = tasks.begin(object, request.source(), request.targets(), authority, nowMs);
        return begun.status() == Status.OK
                ? report(Tenant.of(request.key()), request.requestId(), begun.task(), nowMs)
                : refusal(request.requestId(), begun.status());
    }

    /** Of another tenant's task nothing is known. */
    TaskReply query(Tenant tenant, TaskQuery query, long nowMs) {
        return report(tenant, query.requestId(), query.task(), nowMs);
    }

    private TaskReply report(Tenant tenant, long requestId, long task, long nowMs) {
        Optional<TaskReport> report = tasks.report(tenant, task, nowMs);
        return report.map(known -> new TaskReply(requestId, Status.OK, known))
                .orElse(refusal(requestId, Status.NOT_FOUND));
    }

    static TaskReply refusal(long requestId, Status why) {
        return new TaskReply(requestId, why, TaskReport.NONE);
    }
}
