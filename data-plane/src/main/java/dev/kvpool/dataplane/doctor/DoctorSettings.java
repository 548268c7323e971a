// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.nativelib.NativeNode;
import java.nio.file.Path;
import java.util.List;

/** The flags of {@code kvpool doctor}. */
final class DoctorSettings {
    private static final Format<Long> SEGMENT_SIZES =
            Sizes.between(NativeNode.SEGMENT_BYTES_MIN, NativeNode.SEGMENT_BYTES_MAX);

    static final Setting<List<HostPort>> MASTERS =
            Setting.optional("masters", HostPort.LIST, "Masters to check; compares versions and pools.");

    static final Setting<List<HostPort>> ADMINS = Setting.optional(
            "admins",
            HostPort.LIST,
            "Admin addresses of masters, with --tls-dir those of --secure-admin-port; compares clocks, and checks the storage nodes that the leader names.");

    static final Setting<Path> DATA_DIR = Setting.withDefault(
            "data-dir", Formats.DIRECTORY, "/dev/shm", "Directory of segments, existing or planned.");

    static final Setting<Long> SEGMENT_SIZE =
            Setting.optional("segment-size", SEGMENT_SIZES, "Size of the segment that must fit there.");

    static final Setting<Path> SSD_PATH =
            Setting.optional("ssd-path", Formats.FILE, "Planned SSD tier: a directory, or a block device.");

    static final Setting<Long> SSD_SIZE =
            Setting.optional("ssd-size", SEGMENT_SIZES, "Size of the SSD tier that must fit there.");

    static final Setting<List<Integer>> PORTS = Setting.withDefault(
            "ports",
            Formats.listOf(Formats.PORT),
            "50051,9003,50061,9301",
            "Ports that kvpool will listen on here; must be free.");

    static final Setting<Boolean> JSON = Setting.onOff("json", "Print one line of JSON for programs.");

    static final List<Setting<?>> ALL = List.of(
            MASTERS,
            ADMINS,
            DATA_DIR,
            SEGMENT_SIZE,
            SSD_PATH,
            SSD_SIZE,
            PORTS,
            JSON,
            TlsSettings.DIRECTORY,
            TlsSettings.MODE);

    private DoctorSettings() {}
}
