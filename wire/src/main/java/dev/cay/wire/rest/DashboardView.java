package dev.cay.wire.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.cay.wire.BuildId;
import dev.cay.wire.TemplateId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What E2B's own dashboard is told beside what the API tells all clients. Nullable fields are written as null: it
/// wants them there.
public final class DashboardView {
    private DashboardView() {}

    /// A part of a list.
    ///
    /// @param nextCursor where the next part begins; null for the last one
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Page<T>(List<T> data, @Nullable String nextCursor) {
        public Page {
            data = List.copyOf(data);
        }
    }

    /// A build in a list.
    ///
    /// @param template      the name of the template, or its id
    /// @param status        `building`, `success` or `failed`
    /// @param statusMessage why it failed
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record ListedBuild(
            BuildId id,
            String template,
            TemplateId templateId,
            String status,
            @Nullable String statusMessage,
            Instant createdAt,
            @Nullable Instant finishedAt,
            int cpuCount,
            int memoryMB,
            int diskSizeMB,
            String envdVersion) {}

    /// How far a build is.
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record BuildState(
            BuildId id,
            String status,
            @Nullable Instant finishedAt,
            @Nullable String statusMessage) {}

    /// How far several builds are.
    public record BuildStates(List<BuildState> buildStatuses) {
        public BuildStates {
            buildStatuses = List.copyOf(buildStatuses);
        }
    }

    /// One build.
    ///
    /// @param names of its template
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Build(
            List<String> names,
            Instant createdAt,
            @Nullable Instant finishedAt,
            String status,
            @Nullable String statusMessage) {
        public Build {
            names = List.copyOf(names);
        }
    }

    /// A template in a list.
    ///
    /// @param createdBy always null: teams own templates
    /// @param isDefault whether it comes with Cay
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Template(
            TemplateId templateID,
            BuildId buildID,
            int cpuCount,
            int memoryMB,
            int diskSizeMB,
            @JsonProperty("public") boolean isPublic,
            List<String> aliases,
            List<String> names,
            Instant createdAt,
            Instant updatedAt,
            @Nullable String createdBy,
            @Nullable Instant lastSpawnedAt,
            long spawnCount,
            int buildCount,
            String envdVersion,
            boolean isDefault) {
        public Template {
            aliases = List.copyOf(aliases);
            names = List.copyOf(names);
        }
    }

    /// One template. The numbers are those of the build that its bare name means, and null until that is ready.
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record TemplateDetail(
            TemplateId templateID,
            BuildId buildID,
            @Nullable Integer cpuCount,
            @Nullable Integer memoryMB,
            @Nullable Integer diskSizeMB,
            @JsonProperty("public") boolean isPublic,
            List<String> aliases,
            List<String> names,
            Instant createdAt,
            Instant updatedAt,
            @Nullable Instant lastSpawnedAt,
            long spawnCount,
            int buildCount,
            @Nullable String envdVersion) {
        public TemplateDetail {
            aliases = List.copyOf(aliases);
            names = List.copyOf(names);
        }
    }

    /// A template that comes with Cay.
    public record DefaultTemplate(
            TemplateId id,
            List<Alias> aliases,
            BuildId buildId,
            int ramMb,
            int vcpu,
            int totalDiskSizeMb,
            String envdVersion,
            Instant createdAt,
            @JsonProperty("public") boolean isPublic,
            int buildCount,
            long spawnCount) {
        public DefaultTemplate {
            aliases = List.copyOf(aliases);
        }
    }

    /// A name of a template.
    ///
    /// @param namespace null for a template that every team knows by its bare name
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Alias(String alias, @Nullable String namespace) {}

    /// The templates that come with Cay.
    public record DefaultTemplates(List<DefaultTemplate> templates) {
        public DefaultTemplates {
            templates = List.copyOf(templates);
        }
    }

    /// That a tag points at a build.
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record TagAssignment(
            String assignmentId,
            BuildId buildId,
            Instant assignedAt,
            Instant buildCreatedAt,
            @Nullable Instant buildFinishedAt) {}

    /// A tag with what it points at.
    public record TagGroup(String tag, List<TagAssignment> assignments, boolean hasMore) {
        public TagGroup {
            assignments = List.copyOf(assignments);
        }
    }

    /// Tags of a template.
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record TagGroups(List<TagGroup> tags, @Nullable String nextCursor) {
        public TagGroups {
            tags = List.copyOf(tags);
        }
    }

    /// The limits of a team.
    ///
    /// @param tier a word for them
    public record TeamLimits(String tier, Numbers limits) {
        /// The largest number of its type stands for no limit.
        public record Numbers(
                long maxLengthHours,
                int concurrentSandboxes,
                int concurrentTemplateBuilds,
                int maxVcpu,
                int maxRamMb,
                int diskMb,
                long eventsTtlDays) {}
    }

    /// Whether a team may work.
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record TeamStatus(
            boolean isBlocked, boolean isBanned, @Nullable String blockedReason) {}
}
