"""Where each data set comes from, whom to cite, and on what terms; nothing of the data is shipped with bagwise.

``address`` is the public address of a set's files, ``{name}`` standing for a file's name without the suffix of its
form. The addresses were recorded with the data (the repository and its commit), not tried anew with each release: what
comes from there is compared with the known SHA-256, so a changed file is refused, never used.
"""

from typing import NamedTuple

from bagwise.datasets.parts import Part, read_parts

RAW = "https://raw.githubusercontent.com"
SMILES = "fulowl/smiles/90cc3c044ded546502851ae45d59992d97cea953/data"
PROBLEMS = "pevnak/MIProblems/11621590cc4ad6090daa607b699bf18fa0ee310b"
STAINS = "mchelali/Color-Deconvolution/a8ba35cdaef2601bdedf7bfb85240b2ebb738853/DataSet/BreastCancerCell_dataset"

RESEARCH = "research data of third parties; no licence is stated"
DIETTERICH = (
    "Dietterich, Lathrop, Lozano-Pérez: Solving the multiple instance problem with axis-parallel rectangles, "
    "Artificial Intelligence 89(1–2), 1997"
)
ANDREWS = "Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002"
GELASCA = "Gelasca, Byun, Obara, Manjunath: Evaluation and benchmark for biological image segmentation, ICIP 2008"


class Origin(NamedTuple):
    """The public origin of a data set."""

    name: str
    page: str
    citation: str
    terms: str
    address: str | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The files of the data set."""
        return read_parts(self.name)


def _classic(name: str, citation: str, file: str | None = None) -> Origin:
    page = f"the PRTools files of miproblems.org (2013), kept at https://github.com/{SMILES.replace('/90', '/tree/90')}"
    return Origin(name, page, citation, RESEARCH, f"{RAW}/{SMILES}/{file or name}.mat")


def _problem(name: str, folder: str, citation: str) -> Origin:
    page = f"https://github.com/{PROBLEMS.replace('/116', '/tree/116')}/{folder}"
    return Origin(name, page, citation, RESEARCH, f"{RAW}/{PROBLEMS}/{folder}/{{name}}")


ORIGINS = {
    origin.name: origin
    for origin in (
        _classic("musk1", DIETTERICH, file="musk2"),  # the two are swapped in that repository
        _classic("musk2", DIETTERICH, file="musk1"),
        _classic("fox", ANDREWS),
        _classic("tiger", ANDREWS),
        _classic("elephant", ANDREWS),
        Origin(
            "mnist-bags",
            "the four idx files of MNIST, in any gzip wrapper or none; a mirror: https://ossci-datasets.s3.amazonaws.com/mnist/",
            "LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, Proceedings of "
            "the IEEE 86(11), 1998",
            RESEARCH,
            "https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz",
        ),
        Origin(
            "colon-cancer",
            "CRCHistoPhenotypes_2016_04_28 of the University of Warwick (Tissue Image Analytics); a copy lies in the "
            "history of https://github.com/zhuyiche/sfcn-opi at 15a25c8039eeabacef72d43612da2b33c996dd85",
            "Sirinukunwattana et al.: Locality sensitive deep learning for detection and classification of nuclei in "
            "routine colon cancer histology images, IEEE TMI 35(5), 2016",
            "released for research purpose only, with citation of that article",
        ),
        Origin(
            "breast-cancer",
            "UCSB Bio-Segmentation Benchmark (breast cancer cells), kept at "
            f"https://github.com/{STAINS.replace('/a8', '/tree/a8')}",
            GELASCA,
            "research use, with that citation",
            f"{RAW}/{STAINS}/{{name}}.tif",
        ),
        Origin(
            "ucsb-breast",
            "ucsb_breast_cancer.csv of the Python package mil 1.0.5 (mil/data/datasets/csv)",
            f"Kandemir, Zhang, Hamprecht: Empowering multiple instance histopathology cancer diagnosis by cell graphs, "
            f"MICCAI 2014; images: {GELASCA}",
            RESEARCH,
        ),
        _problem(
            "newsgroups-1",
            "Newsgroups1",
            "Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009",
        ),
        _problem(
            "brown-creeper",
            "BrownCreeper",
            "Briggs et al.: Acoustic classification of multiple simultaneous bird species: a multi-instance "
            "multi-label approach, Journal of the Acoustical Society of America 131(6), 2012",
        ),
    )
}
