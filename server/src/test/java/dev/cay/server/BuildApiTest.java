package dev.cay.server;

import dev.cay.testing.Fast;

/// Builds of templates, as clients ask for them and follow them.
@Fast
final class BuildApiTest extends ServerTest
        implements BuildRunCases, BuildRequestCases, BuildUploadCases, BuildLogCases, BuiltTemplateCases {}
