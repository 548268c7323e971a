// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who may use what in this module; design rules that a review would forget. */
class ArchitectureTest {
    private static final String ROOT = "dev.kvpool.dataplane.";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.kvpool.dataplane");

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
    void onlyTheElectionKnowsKubernetes() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + "election..")
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
