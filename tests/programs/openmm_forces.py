"""OpenMM: kernels put together at run time, compiled by NVRTC, launched over the driver. Forces of a crowd of particles in single and in
double precision, against OpenMM's own plain C++; then some dynamics with constraints. (Particle meshes need cuFFT, which asks NVIDIA's runtime.)"""

import sys

import numpy as np
import openmm as mm

COUNT = 300
BOX = 3.0
positions = np.stack(np.meshgrid(*[np.arange(7) * 0.4] * 3, indexing="ij"), -1).reshape(-1, 3)[:COUNT]
positions = positions + np.random.default_rng(1).random((COUNT, 3)) * 0.08  # a lattice, disturbed: no two too close


def particles():
    system = mm.System()
    system.setDefaultPeriodicBoxVectors((BOX, 0, 0), (0, BOX, 0), (0, 0, BOX))
    for i in range(COUNT):
        system.addParticle(12.0 + i % 5)
    return system


def charged(method):
    system, force = particles(), mm.NonbondedForce()
    force.setNonbondedMethod(method)
    force.setCutoffDistance(1.0)
    for i in range(COUNT):
        force.addParticle((-1) ** i * 0.2, 0.2, 0.3)
    for i in range(0, COUNT - 1, 7):
        force.addException(i, i + 1, 0.01, 0.2, 0.1)
    system.addForce(force)
    return system


def bonded():
    system = particles()
    bonds, angles, torsions = mm.HarmonicBondForce(), mm.HarmonicAngleForce(), mm.PeriodicTorsionForce()
    for i in range(COUNT - 3):
        bonds.addBond(i, i + 1, 0.2, 100.0)
        angles.addAngle(i, i + 1, i + 2, 1.8, 20.0)
        torsions.addTorsion(i, i + 1, i + 2, i + 3, 1 + i % 4, 0.3, 2.0)
    for force in (bonds, angles, torsions):
        system.addForce(force)
    return system


def written_as_text():
    system = particles()
    pairs = mm.CustomNonbondedForce("e*((s/r)^12-(s/r)^6)+erfc(r)*q1*q2/r+table(r); e=0.3; s=0.2")
    pairs.addPerParticleParameter("q")
    pairs.addTabulatedFunction("table", mm.Continuous1DFunction(list(np.sin(np.linspace(0, 3, 40))), 0.0, 1.2))
    pairs.setNonbondedMethod(pairs.CutoffPeriodic)
    pairs.setCutoffDistance(1.1)
    born = mm.GBSAOBCForce()
    born.setNonbondedMethod(born.CutoffPeriodic)
    born.setCutoffDistance(1.1)
    for i in range(COUNT):
        pairs.addParticle([(-1) ** i * 0.1])
        born.addParticle((-1) ** i * 0.3, 0.15 + 0.01 * (i % 3), 0.8)
    system.addForce(pairs)
    system.addForce(born)
    return system


def forces(system, platform, settings):
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName(platform), settings)
    context.setPositions(positions)
    state = context.getState(getForces=True, getEnergy=True)
    return state.getForces(asNumpy=True)._value, state.getPotentialEnergy()._value


if "CUDA" not in [mm.Platform.getPlatform(i).getName() for i in range(mm.Platform.getNumPlatforms())]:
    sys.exit("OpenMM has no CUDA platform here: " + " ".join(mm.Platform.getPluginLoadFailures()))
for name, make in {
    "no cutoff": lambda: charged(mm.NonbondedForce.NoCutoff),
    "cutoff, periodic": lambda: charged(mm.NonbondedForce.CutoffPeriodic),
    "bonds": bonded,
    "written as text": written_as_text,
}.items():
    expected, energy = forces(make(), "Reference", {})
    for precision, tolerance in (("single", 1e-5), ("double", 1e-6)):
        got, got_energy = forces(make(), "CUDA", {"Precision": precision})
        off = np.median(np.linalg.norm(got - expected, axis=1) / np.linalg.norm(expected, axis=1))
        assert off < tolerance and abs(got_energy - energy) < 1e-4 * abs(energy), (name, precision, off, energy, got_energy)

system = bonded()
for i in range(0, COUNT - 1, 10):
    system.addConstraint(i, i + 1, 0.3)
context = mm.Context(system, mm.LangevinMiddleIntegrator(300, 1, 0.001), mm.Platform.getPlatformByName("CUDA"), {"Precision": "mixed"})
context.setPositions(positions)
context.applyConstraints(1e-6)
context.setVelocitiesToTemperature(300, 3)
context.getIntegrator().step(20)
state = context.getState(getPositions=True, getEnergy=True)
moved = state.getPositions(asNumpy=True)._value
assert np.isfinite(moved).all() and 0 < state.getKineticEnergy()._value < 1e5
lengths = np.linalg.norm(moved[0 : COUNT - 1 : 10] - moved[1:COUNT:10], axis=1)
assert np.allclose(lengths, 0.3, rtol=1e-4), lengths
print("all as expected")
