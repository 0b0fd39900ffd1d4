"""Writes small pictures of every kind, with the results of Pillow and transformers.

    pip install pillow numpy safetensors transformers torch torchvision
    python tools/golden/pictures.py

Writes tests/data/golden_pictures/: PNG and JPEG files, and golden.safetensors with

- `NAME`: the pixels (height, width, 3) by Pillow's `convert("RGB")`, and `NAME/grey` by its `convert("L")`;
- `resized/NAME/FILTER/HEIGHTxWIDTH`: pixels by Pillow's `resize` along rows and then along columns. In a single call
  Pillow 13 resizes columns first if that is faster, which changes some bytes by one;
- `processed/NAME/PROCESSOR`: the output of the transformers image processor in that file, which resizes in one call.
"""

import json
import pathlib

import numpy
from PIL import Image
from safetensors.numpy import save_file
from transformers.models.convnext.image_processing_pil_convnext import ConvNextImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

FOLDER = pathlib.Path(__file__).parents[2] / "tests/data/golden_pictures"
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
PROCESSORS = {
    "convnext": (ConvNextImageProcessorPil, {"size": {"shortest_edge": 14}, "crop_pct": 0.875, "resample": 3,
                                             "image_mean": [0.485, 0.456, 0.406],
                                             "image_std": [0.229, 0.224, 0.225]}),
    "vit": (ViTImageProcessorPil, {"size": {"height": 14, "width": 14}, "resample": 2,
                                   "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}),
}


def smooth(height, width, channels, generator):
    """Returns waves with some noise, so that neither resizing nor JPEG is trivial."""
    y, x = numpy.mgrid[0:height, 0:width]
    waves = [120 + 90 * numpy.sin(x / (2 + c) + y / (4 - c / 2)) for c in range(channels)]
    return numpy.clip(numpy.stack(waves, -1) + generator.normal(0, 12, (height, width, channels)), 0, 255)


def write_pictures():
    generator = numpy.random.default_rng(7)
    rgb = smooth(23, 37, 3, generator).astype("uint8")
    image = Image.fromarray(rgb)
    image.save(FOLDER / "rgb.png")
    Image.fromarray(rgb[:, :, 0]).save(FOLDER / "grey.png")
    Image.fromarray(numpy.concatenate([rgb, rgb[:, :, :1]], -1)).save(FOLDER / "rgba.png")
    image.quantize(7).save(FOLDER / "palette.png", transparency=2)
    image.convert("1").save(FOLDER / "bits.png")
    image.save(FOLDER / "gamma.png", pnginfo=gamma_chunk())
    tall = Image.fromarray(smooth(41, 19, 3, generator).astype("uint8"))
    tall.save(FOLDER / "tall.jpg", quality=90)
    image.save(FOLDER / "progressive.jpg", quality=80, subsampling=0, progressive=True)
    tall.convert("L").save(FOLDER / "grey.jpg")
    tall.convert("CMYK").save(FOLDER / "cmyk.jpg")
    deep = (smooth(9, 5, 1, generator)[:, :, 0] * 257).astype("uint16")
    Image.fromarray(deep).save(FOLDER / "grey16.png")
    return deep


def gamma_chunk():
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add(b"gAMA", (100000).to_bytes(4, "big"))
    return info


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    deep = write_pictures()
    # Pillow gives no bytes for this mode. As for three 16-bit channels, take the upper eight bits.
    golden = {"grey16.png": numpy.repeat((deep >> 8).astype("uint8")[:, :, None], 3, -1)}
    for path in sorted(FOLDER.iterdir()):
        if path.name in ("cmyk.jpg", "grey16.png"):
            continue
        golden[path.name] = numpy.array(Image.open(path).convert("RGB"))
        golden[path.name + "/grey"] = numpy.array(Image.open(path).convert("L"))
    for name in ("rgb.png", "tall.jpg"):
        image = Image.open(FOLDER / name).convert("RGB")
        for filter_name, resample in FILTERS.items():
            for height, width in ((11, 50), (23, 20), (64, 9)):
                key = f"resized/{name}/{filter_name}/{height}x{width}"
                rows = image.resize((width, image.height), resample)
                golden[key] = numpy.array(rows.resize((width, height), resample))
        for processor_name, (processor, settings) in PROCESSORS.items():
            made = processor(**settings)
            (FOLDER / f"{processor_name}.json").write_text(json.dumps(made.to_dict(), indent=1, default=str) + "\n")
            golden[f"processed/{name}/{processor_name}"] = numpy.asarray(
                made(image, return_tensors="np")["pixel_values"][0], dtype="float32")
    save_file(golden, FOLDER / "golden.safetensors")


if __name__ == "__main__":
    main()
