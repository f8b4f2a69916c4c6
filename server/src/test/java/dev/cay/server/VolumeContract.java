package dev.cay.server;

import org.junit.jupiter.api.Timeout;

/// What is promised of volumes, whatever engine the store has.
@Timeout(120)
abstract class VolumeContract extends ServerTest
        implements VolumeLifeContract, VolumeFileContract, VolumeMountContract, VolumeDeletionContract {}
