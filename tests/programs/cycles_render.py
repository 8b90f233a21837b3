"""Blender's renderer Cycles (bpy): a path tracer of 74 kernels in 12 MB of PTX that comes with it. A small picture of glass, noise and lights,
against the same renderer on the processor."""

import os
import sys
import tempfile

import bpy
import addon_utils  # bpy brings it
import numpy as np

SIDE = 32
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.engine = "CYCLES"
addon_utils.enable("cycles")
preferences = bpy.context.preferences.addons["cycles"].preferences
preferences.compute_device_type = "CUDA"
preferences.get_devices()
for device in preferences.devices:
    device.use = device.type == "CUDA"
if not any(device.use for device in preferences.devices):
    sys.exit("Cycles sees no CUDA device here")


def material(**inputs):
    made = bpy.data.materials.new("material")
    made.use_nodes = True
    surface = made.node_tree.nodes["Principled BSDF"]
    for name, value in inputs.items():
        surface.inputs[name.replace("_", " ")].default_value = value
    bpy.context.object.data.materials.append(made)
    return made.node_tree, surface


bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1), rotation=(0, 0, 0.6))
tree, surface = material(Metallic=0.3, Roughness=0.3)
tree.links.new(tree.nodes.new("ShaderNodeTexNoise").outputs["Color"], surface.inputs["Base Color"])
bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=0.6, location=(1.5, -0.6, 0.6))
material(Transmission_Weight=1, Roughness=0)
bpy.ops.mesh.primitive_plane_add(size=10)
bpy.ops.object.light_add(type="AREA", location=(3, -3, 4), rotation=(0.8, 0, 0.8))
bpy.context.object.data.energy = 300
bpy.ops.object.light_add(type="SUN", location=(0, 0, 4))
bpy.ops.object.camera_add(location=(4, -5, 3), rotation=(1.2, 0, 0.67))
scene.camera = bpy.context.object
scene.world = bpy.data.worlds.new("world")
scene.render.resolution_x = scene.render.resolution_y = SIDE
scene.cycles.samples = 4
scene.cycles.max_bounces = 4
scene.cycles.use_adaptive_sampling = scene.cycles.use_denoising = False
scene.view_settings.view_transform = "Raw"
scene.render.image_settings.file_format = "OPEN_EXR"
scene.render.image_settings.color_depth = "32"

pictures = {}
with tempfile.TemporaryDirectory() as folder:
    for device in ("CPU", "GPU"):
        scene.cycles.device = device
        scene.render.filepath = os.path.join(folder, device + ".exr")
        bpy.ops.render.render(write_still=True)
        pixels = np.empty(SIDE * SIDE * 4, np.float32)
        bpy.data.images.load(scene.render.filepath).pixels.foreach_get(pixels)
        pictures[device] = pixels.reshape(SIDE, SIDE, 4)[..., :3]
off = np.abs(pictures["CPU"] - pictures["GPU"]).max(-1)
assert pictures["GPU"].std() > 0.05, "an empty picture"
assert (off > 0.01).mean() < 0.01, (off.max(), (off > 0.01).mean())  # a path may turn off where rounding differs
print("all as expected")
