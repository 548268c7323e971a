// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Who may use what in this module; design rules that a review would forget. */
class ArchitectureTest {
    private static final String ROOT = "dev.kvpool.dataplane.";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.kvpool.dataplane");

    private static final int CLASSES_OF_A_PACKAGE_MAX = 25;

    /** The rooms of the master's core from the lowest up, and which of those before it each may use. Only the core itself uses all. */
    private static final List<String> ROOMS = List.of(
            "slab: ",
            "count: ",
            "tenant: ",
            "lru: ",
            "seal: ",
            "base: slab tenant count",
            "plan: base",
            "room: base",
            "index: slab tenant lru seal base plan room",
            "membership: base plan room index",
            "register: tenant base room index membership",
            "liveness: base index membership register",
            "command: tenant base room index membership register",
            "reconciliation: base index membership command",
            "replication: tenant base plan room index membership register command reconciliation",
            "removal: tenant base room index membership register command reconciliation replication",
            "eviction: count tenant base room index membership command reconciliation replication removal",
            "upkeep: tenant base index membership register command reconciliation replication removal eviction",
            "takeover: seal base index membership register liveness command reconciliation upkeep",
            "request: count tenant seal base plan room index membership register command reconciliation replication removal eviction upkeep",
            "report: tenant base room index membership register liveness command replication upkeep takeover");

    @Test
    void theRoomsOfTheMastersCoreDependOneWay() {
        String core = ROOT + "master.core";
        List<String> before = new ArrayList<>();
        for (String room : ROOMS) {
            String[] parts = room.split(": ?", 2);
            List<String> used = parts[1].isEmpty() ? List.of() : List.of(parts[1].split(" ", -1));
            assertThat(before).as("%s comes after what it uses", parts[0]).containsAll(used);
            before.add(parts[0]);
            List<String> allowed = new ArrayList<>(List.of(core + "." + parts[0]));
            used.forEach(it -> allowed.add(core + "." + it));
            noClasses()
                    .that()
                    .resideInAPackage(core + "." + parts[0])
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage(core + "..").and(not(resideInAnyPackage(allowed.toArray(String[]::new)))))
                    .check(CLASSES);
        }
        assertThat(packages(core + ".")).as("rooms with a rule").hasSameElementsAs(before);
    }

    @Test
    void packagesDependOneWay() {
        slices().matching(ROOT + "(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void aPackageHoldsOneIdea() {
        Map<String, Long> classes = CLASSES.stream()
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
        assertThat(classes)
                .allSatisfy((name, count) ->
                        assertThat(count).as("classes of %s", name).isLessThanOrEqualTo(CLASSES_OF_A_PACKAGE_MAX));
    }

    private static Set<String> packages(String prefix) {
        return CLASSES.stream()
                .map(JavaClass::getPackageName)
                .filter(name -> name.startsWith(prefix))
                .map(name -> name.substring(prefix.length()))
                .collect(Collectors.toSet());
    }

    @Test
    void masterAndNodeDoNotSeeEachOther() {
        never(ROOT + "master..", ROOT + "node..");
        never(ROOT + "node..", ROOT + "master..");
        never(ROOT + "node..", ROOT + "election..");
        never(ROOT + "node..", ROOT + "wire..");
    }

    @Test
    void theAgentSeesNoOtherProcess() {
        for (String other : Set.of("master..", "node..", "local..", "election..", "wire..")) {
            never(ROOT + "agent..", ROOT + other);
            never(ROOT + other, ROOT + "agent..");
        }
    }

    @Test
    void whatAllCommandsShareKnowsNoneOfThem() {
        for (String shared : Set.of("config..", "http..", "machine..", "version..")) {
            for (String command :
                    Set.of("master..", "node..", "agent..", "local..", "admin..", "doctor..", "preflight..")) {
                never(ROOT + shared, ROOT + command);
            }
        }
    }

    @Test
    void theMastersCoreIsFreeOfInputOutputClockAndThreads() {
        never(
                ROOT + "master.core..",
                "java.io..",
                "java.nio.file..",
                "java.nio.channels..",
                "java.net..",
                "java.util.concurrent..",
                "org.slf4j..",
                "io.netty..",
                "io.fabric8..");
        noClasses()
                .that()
                .resideInAPackage(ROOT + "master.core..")
                .should()
                .dependOnClassesThat(named(Clock.class, Instant.class, Thread.class))
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage(ROOT + "master.core..")
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .check(CLASSES);
    }

    @Test
    void onlyTheElectionAndEnrolmentKnowKubernetes() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT + "election..", ROOT + "enrol..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.fabric8..")
                .check(CLASSES);
    }

    @Test
    void messagesAndTheirEncodingKnowNoNetwork() {
        never(ROOT + "wire.message..", "io.netty..", "java.io..", "java.net..", "org.slf4j..", ROOT + "master..");
        never(ROOT + "wire.codec..", "io.netty..", "java.io..", "java.net..", "org.slf4j..", ROOT + "master..");
    }

    @Test
    void theElectionsDecisionIsFreeOfInputOutputAndThreads() {
        noClasses()
                .that()
                .haveSimpleName("Election")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.io..", "java.nio..", "java.util.concurrent..", "org.slf4j..", "io.fabric8..")
                .check(CLASSES);
    }

    @Test
    void theRegisterIsAValue() {
        never(
                ROOT + "register..",
                "java.io..",
                "java.nio..",
                "java.time..",
                "java.util.concurrent..",
                "org.slf4j..",
                "io.netty..",
                "io.fabric8..",
                ROOT + "election..",
                ROOT + "master..");
    }

    @Test
    void noNameSaysNothing() {
        String empty = "(?i).*(util|utils|common|helper|helpers|manager)";
        noClasses().should().haveNameMatching(empty).check(CLASSES);
        noClasses()
                .should()
                .resideInAnyPackage("..util..", "..utils..", "..common..", "..helper..", "..manager..")
                .check(CLASSES);
    }

    @Test
    void nobodyReachesTheLibraryPastItsTypedInterface() {
        never("dev.kvpool.dataplane..", "com.sun.jna..", "dev.kvpool.nativelib.jna..");
    }

    private static void never(String from, String... to) {
        noClasses()
                .that()
                .resideInAPackage(from)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(to)
                .check(CLASSES);
    }

    private static DescribedPredicate<JavaClass> named(Class<?>... types) {
        return DescribedPredicate.describe(
                "one of " + Set.of(types),
                type -> Set.of(types).stream().anyMatch(wanted -> type.isEquivalentTo(wanted)));
    }
}
